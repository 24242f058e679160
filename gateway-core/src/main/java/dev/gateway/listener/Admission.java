package dev.gateway.listener;

import dev.gateway.stream.ClientNetwork;

/** Says who may connect to a listener, for all event loops together. Any of them may ask. */
sealed interface Admission permits ConnectionLimit, FairShares {
    /** A connection that asks to be let in. */
    interface Candidate {
        /** Returns whom it is counted for; any event loop may ask. */
        ClientNetwork network();

        /** Closes it soon with whatever runs on it; any event loop may ask. */
        void closeSoon();
    }

    /** Other settings hold from now on; connections that are open stay. */
    void change(ListenerSettings settings);

    /** Admits a connection, or not; an admitted one is to be released. */
    boolean tryAcquire(Candidate connection);

    /** Whether everybody is refused who comes now; who asks need not have a connection to let in. */
    boolean isFull();

    /** The first whole head of a request has come. */
    void onRequest(Candidate connection);

    /** A connection that was let in has closed. */
    void release(Candidate connection);

    /** Counts a connection for its client; returns false, and does not, if that has as many as one may. */
    boolean tryAcquire(ClientNetwork client, int max);

    /** Whether a client has as many connections as one may. */
    boolean isFull(ClientNetwork client, int max);

    /** A connection that was counted for its client has closed. */
    void release(ClientNetwork client);

    /** Returns how many connections are open. */
    int open();
}
