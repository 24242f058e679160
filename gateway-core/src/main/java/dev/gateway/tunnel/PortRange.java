package dev.gateway.tunnel;

/** Ports from the first to the last, both included. */
public record PortRange(int first, int last) {
    boolean contains(int port) {
        return port >= first && port <= last;
    }
}
