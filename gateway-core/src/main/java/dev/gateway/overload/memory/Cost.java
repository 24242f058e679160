package dev.gateway.overload.memory;

/**
 * Memory cost estimates: the bytes of heap of objects that are charged by their number. The values are measured, include
 * what Netty and the JDK hold for them, and are rounded. Data of which clients decide the size, such as heads, is
 * charged in addition.
 */
public final class Cost {
    /** A connection that speaks HTTP/1, or whose protocol is not known yet. */
    public static final long CONNECTION = 4 * 1024;

    /** What an HTTP/2 connection takes in addition: HPACK tables in both directions, and flow control. */
    public static final long HTTP2 = 12 * 1024;

    /** An HTTP/2 stream until it is closed, which may be long after its exchange has ended. */
    public static final long STREAM = 512;

    /** An exchange, without its head and without its part of an upstream connection. */
    public static final long EXCHANGE = 1536;

    /** A request that a filter sends beside that of a client, without its head and its upstream connection. */
    public static final long CALL = 1024;

    /** An upstream connection of HTTP/1, which an exchange has for itself. */
    public static final long UPSTREAM = 2560;

    /** A lookup of a name that a client has chosen, until Netty has forgotten its queries. */
    public static final long LOOKUP = 4 * 1024;

    /** A waiting piece of a body, without its bytes, which are not on the heap. */
    public static final long PIECE = 160;

    /** What the gateway itself takes, without clients. */
    private static final long OWN = 10L * 1024 * 1024;

    private static final long LEAST = 2L * 1024 * 1024;

    private Cost() {}

    /**
     * Returns how many bytes a process may hold for clients: half of the heap that the gateway does not need itself. The
     * other half is for upstream connections, configuration, errors of the estimates, and garbage collection.
     *
     * @param maxHeap the maximum heap, as {@link Runtime#maxMemory} returns it
     * @param maxOld how much of it may hold what lives for long. Usually two thirds or more; if it is less, the budget is that
     *     of a heap of which it is two thirds
     */
    public static long budget(long maxHeap, long maxOld) {
        return Math.max(LEAST, (Math.min(maxHeap, maxOld / 2 * 3) - OWN) / 2);
    }
}
