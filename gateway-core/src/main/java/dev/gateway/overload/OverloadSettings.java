package dev.gateway.overload;

/**
 * When the gateway refuses new work. Immutable.
 *
 * @param heap the part of the heap in use after a collection, 0 for never
 * @param directMemory the part of the direct memory that buffers hold, 0 for never
 * @param openFiles the part of the file descriptors for clients near which connections do not stay open, 0 for never
 * @param lagMillis how long tasks wait for event loops, 0 for never
 * @param requestsInFlight maximum number of exchanges at once, 0 for no limit
 */
public record OverloadSettings(
        double heap, double directMemory, double openFiles, long lagMillis, int requestsInFlight) {
    /** The defaults. */
    public static final OverloadSettings DEFAULT = new OverloadSettings(0.85, 0.85, 0.85, 1000, 0);

    /** Returns the level of a resource above which the gateway refuses new connections, 0 for never. */
    double limit(Resource resource) {
        return switch (resource) {
            case HEAP -> heap;
            case DIRECT_MEMORY -> directMemory;
            case OPEN_FILES -> openFiles;
            case LAG -> lagMillis == 0 ? 0 : LagPressure.LIMIT;
            case REQUESTS_IN_FLIGHT, CLIENT_HEAP, CONNECTIONS -> 0;
        };
    }
}
