package dev.gateway.http1;

/**
 * The limits of an upstream HTTP/1 connection.
 *
 * @param limits how large a response head may be
 */
public record Http1ClientSettings(HeadLimits limits) {
    /** The usual limits. */
    public static final Http1ClientSettings DEFAULT = new Http1ClientSettings(HeadLimits.DEFAULT);
}
