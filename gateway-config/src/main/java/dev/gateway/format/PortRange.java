package dev.gateway.format;

/**
 * Ports from first to last.
 *
 * @param first at least 1
 * @param last 65535 at most, not less than first
 */
public record PortRange(int first, int last) {
    /** Whether a port is one of these. */
    public boolean contains(int port) {
        return port >= first && port <= last;
    }

    /** Returns {@code 443}, or {@code 8000-8999}. */
    @Override
    public String toString() {
        return first == last ? Integer.toString(first) : first + "-" + last;
    }
}
