package dev.gateway.listener.limit;

import dev.gateway.stream.ClientNetwork;

/** Decides which connections a listener admits, for all event loops together. Safe from any of them. */
public sealed interface Admission permits ConnectionLimit, FairShares {
    /** A new connection. */
    interface Candidate {
        /** Returns the network that it counts for; called on any event loop. */
        ClientNetwork network();

        /** Closes it soon, with all its exchanges; called on any event loop. */
        void closeSoon();
    }

    /** The connections of the listener on one event loop. */
    interface Loop {
        /**
         * Closes an idle connection of a client soon. If the client has none on this loop, the loop calls {@link
         * Admission#onAllInUse}. Called on any thread.
         */
        void giveWaySoon(ClientNetwork client);
    }

    /** An event loop has connections from now on. */
    default void join(Loop loop) {}

    /**
     * There is no room, and a client connects. If another client has more than its share, asks for a connection of the one
     * that has most to give way.
     *
     * @param client {@link ClientNetwork#NONE} if it is not known
     * @return whether to admit the connection all the same
     */
    default boolean replaces(ClientNetwork client) {
        return false;
    }

    /** An event loop was asked for an unused connection of a client, and has found none. */
    default void onAllInUse(ClientNetwork client, Loop loop) {}

    /**
     * It is known whose connection was admitted. Returns false, and does not count it, if others find no room while this
     * client has its share of it.
     */
    default boolean tryShare(ClientNetwork client) {
        return true;
    }

    /** A connection that was counted for a client's share has closed. */
    default void releaseShare(ClientNetwork client) {}

    /**
     * Changes the limits; open connections stay.
     *
     * @param maxConnections the maximum number of connections
     * @param maxConnectionsPerAddress the same for one address, 0 for no such limit
     */
    void change(int maxConnections, int maxConnectionsPerAddress);

    /** Returns whether to admit a connection. The caller must release an admitted one. */
    boolean tryAcquire(Candidate connection);

    /** Whether it would refuse every new connection now. */
    boolean isFull();

    /** The first complete head of a request has arrived. */
    void onRequest(Candidate connection);

    /** An admitted connection has closed. */
    void release(Candidate connection);

    /** Counts a connection for its client; returns false, and does not count it, if the client has reached the limit. */
    boolean tryAcquire(ClientNetwork client, int max);

    /** Whether a client has reached its limit of connections. */
    boolean isFull(ClientNetwork client, int max);

    /** A connection that counted for its client has closed. */
    void release(ClientNetwork client);

    /** Returns how many connections are open. */
    int open();
}
