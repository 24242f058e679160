package dev.gateway.overload;

/**
 * When new work is refused. Immutable.
 *
 * @param heap the part of the heap that must live on for that, 0 for never
 * @param directMemory the part of the direct memory that buffers must hold, 0 for never
 * @param openFiles the part of the file descriptors for clients from which on connections do not stay open, 0 for never
 * @param lagMillis how long event loops must make everything wait, 0 for never
 * @param requestsInFlight how many exchanges there may be at once, 0 for any number
 */
public record OverloadSettings(
        double heap, double directMemory, double openFiles, long lagMillis, int requestsInFlight) {
    /** What holds if nothing is said. */
    public static final OverloadSettings DEFAULT = new OverloadSettings(0.85, 0.85, 0.85, 1000, 0);

    /** Returns the level of a resource above which new connections are refused, 0 for never. */
    double limit(Resource resource) {
        return switch (resource) {
            case HEAP -> heap;
            case DIRECT_MEMORY -> directMemory;
            case OPEN_FILES -> openFiles;
            case LAG -> lagMillis == 0 ? 0 : LagPressure.LIMIT;
            case REQUESTS_IN_FLIGHT, CLIENT_HEAP -> 0;
        };
    }
}
