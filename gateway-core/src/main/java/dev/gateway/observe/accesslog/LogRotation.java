package dev.gateway.observe.accesslog;

/**
 * Log rotation. When a file of the access log is rotated: put aside, so that another one begins.
 *
 * @param maxBytes after which it is put aside, 0 for no limit
 * @param maxFiles how many that were put aside are kept
 * @param maxAgeNanos after which it is put aside, 0 for no limit
 */
public record LogRotation(long maxBytes, int maxFiles, long maxAgeNanos) {
    /** The file grows. */
    public static final LogRotation NONE = new LogRotation(0, 0, 0);
}
