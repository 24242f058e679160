package dev.gateway.listener;

/** Says who may connect to a listener, for all event loops together. Any of them may ask. */
sealed interface Admission permits ConnectionLimit, FairShares {
    /** Makes what the settings ask for. */
    static Admission of(ListenerSettings settings) {
        return settings.maxConnectionsPerAddress() == 0
                ? new ConnectionLimit(settings.maxConnections())
                : new FairShares(settings);
    }

    /** Other settings hold from now on; connections that are open stay. */
    void change(ListenerSettings settings);

    /** Lets a connection in, or not; whoever is let in is to be released. */
    boolean tryAcquire(Connection connection);

    /** Whether everybody is refused who comes now; who asks need not have a connection to let in. */
    boolean isFull();

    /** The first whole head of a request has come. */
    void onRequest(Connection connection);

    /** A connection that was let in has closed. */
    void release(Connection connection);

    /** Returns how many connections are open. */
    int open();
}
