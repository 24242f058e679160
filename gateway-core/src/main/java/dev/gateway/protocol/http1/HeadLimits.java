package dev.gateway.protocol.http1;

/**
 * Header size limits: how large a head may be.
 *
 * @param maxFirstLine bytes of the request or status line, with its line end
 * @param maxFieldBytes bytes of all field lines, with their line ends; also of trailers
 * @param maxFields number of field lines; also of trailers
 */
public record HeadLimits(int maxFirstLine, int maxFieldBytes, int maxFields) {
    /** Room for what browsers and common servers send. */
    public static final HeadLimits DEFAULT = new HeadLimits(16 * 1024, 64 * 1024, 128);
}
