package dev.gateway.overload;

/** A resource that may run short, with its name in logs, statistics and metrics. */
public enum Resource {
    /** Heap in use after a garbage collection. */
    HEAP("heap"),
    /** Direct memory that buffers hold. */
    DIRECT_MEMORY("directMemory"),
    /** File descriptors for clients. */
    OPEN_FILES("openFiles"),
    /** Time of event loops. */
    LAG("lag"),
    /** Exchanges in flight. */
    REQUESTS_IN_FLIGHT("requestsInFlight"),
    /** Heap that is charged for clients. */
    CLIENT_HEAP("clientHeap"),
    /** Connections of a listener. */
    CONNECTIONS("connections");

    private final String label;

    Resource(String label) {
        this.label = label;
    }

    /** Returns its name. */
    public String label() {
        return label;
    }
}
