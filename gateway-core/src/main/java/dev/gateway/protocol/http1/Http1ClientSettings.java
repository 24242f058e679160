package dev.gateway.protocol.http1;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * What an upstream HTTP/1 connection is like.
 *
 * @param limits how large a response head may be
 * @param proxy what its peer is if that forwards requests to where their URI says, else null
 */
public record Http1ClientSettings(HeadLimits limits, @Nullable Proxy proxy) {
    /** The usual limits, and a peer that answers itself. */
    public static final Http1ClientSettings DEFAULT = new Http1ClientSettings(HeadLimits.DEFAULT, null);

    /**
     * A peer that forwards.
     *
     * @param name what logs call it
     * @param authorization what {@code Proxy-Authorization} tells it, and nobody else, or null
     */
    public record Proxy(String name, @Nullable AsciiString authorization) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** Returns the usual limits, and a peer that forwards. */
    public static Http1ClientSettings proxy(String name, @Nullable String authorization) {
        return new Http1ClientSettings(
                HeadLimits.DEFAULT, new Proxy(name, authorization == null ? null : new AsciiString(authorization)));
    }
}
