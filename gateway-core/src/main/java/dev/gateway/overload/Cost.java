package dev.gateway.overload;

/**
 * Memory cost estimates. How many bytes of heap things take that are charged by their number, as measured: with what Netty
 * and the JDK hold for them, and rounded up. What clients decide the size of, such as heads, is charged besides.
 */
public final class Cost {
    /** A connection that speaks HTTP/1, or has not spoken yet. */
    public static final long CONNECTION = 4 * 1024;

    /** What a connection takes more if it speaks HTTP/2: tables of HPACK in both directions, and flow control. */
    public static final long HTTP2 = 12 * 1024;

    /** A stream of HTTP/2 until it is closed, which may be long after its exchange has ended. */
    public static final long STREAM = 1024;

    /** An exchange besides its head, with an upstream connection. */
    public static final long EXCHANGE = 4 * 1024;

    /** A piece of a body that waits until somebody takes it, besides its bytes, which are not on the heap. */
    public static final long PIECE = 160;

    /** What the gateway itself takes, without any client. */
    private static final long OWN = 10L * 1024 * 1024;

    private static final long LEAST = 2L * 1024 * 1024;

    private Cost() {}

    /**
     * Returns how many bytes clients may make a process hold: half of the heap that the gateway does not need itself. The
     * other half is for upstreams' connections, configuration, what is estimated too low, and room to collect garbage in.
     *
     * @param maxHeap as {@link Runtime#maxMemory} tells it
     */
    public static long budget(long maxHeap) {
        return Math.max(LEAST, (maxHeap - OWN) / 2);
    }
}
