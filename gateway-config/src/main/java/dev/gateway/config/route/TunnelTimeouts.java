package dev.gateway.config.route;

import java.time.Duration;

/**
 * Time limits of an open tunnel, zero for none.
 *
 * @param idle without a byte in either direction
 * @param halfClosed without a byte after one side has ended
 * @param max after which it is ended whatever it does
 */
public record TunnelTimeouts(Duration idle, Duration halfClosed, Duration max) {
    /** No time limits. */
    public static final TunnelTimeouts NONE = new TunnelTimeouts(Duration.ZERO, Duration.ZERO, Duration.ZERO);
}
