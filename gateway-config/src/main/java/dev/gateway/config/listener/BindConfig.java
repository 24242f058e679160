package dev.gateway.config.listener;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Bind address and socket options: where a listener is bound.
 *
 * @param address an IPv4 or IPv6 literal without brackets, or a name; unused with {@code unix}
 * @param port 0 to 65535, 0 for any free one; unused with {@code unix}
 * @param unix the Unix-domain socket bound instead of address and port, or null
 * @param reusePort whether other processes may bind the port too
 */
public record BindConfig(String address, int port, @Nullable Path unix, boolean reusePort) {
    /** Returns whether this TCP port is bound, at whatever address. */
    public boolean hasPort(int number) {
        return unix == null && port > 0 && port == number;
    }
}
