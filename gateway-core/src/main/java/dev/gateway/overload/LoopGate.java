package dev.gateway.overload;

import org.jspecify.annotations.Nullable;

/**
 * Where new work of one event loop is let in or refused: connections while there is much room, requests of connections
 * that are there as long as there is any. Confined to its loop but for {@link Overload}, which loops share.
 */
public final class LoopGate {
    /** Lets everything in and counts nothing: where something else bounds what comes in, and for tests. */
    public static final LoopGate OPEN = new LoopGate(new Overload(), null);

    private final Overload overload;
    private final @Nullable LoopBudget budget;

    /**
     * Makes the gate of an event loop.
     *
     * @param budget what connections and requests of the loop are charged to, null to count nothing
     */
    public LoopGate(Overload overload, @Nullable LoopBudget budget) {
        this.overload = overload;
        this.budget = budget;
    }

    /** Lets a connection in, and returns its account, charged with itself; null if it is refused. */
    public @Nullable Account admitConnection() {
        if (overload.refusesConnections()) {
            return null;
        }
        LoopBudget charged = budget;
        if (charged == null) {
            return Account.UNLIMITED;
        }
        // A quarter is for requests: whoever is connected should be served.
        if (charged.left() < charged.capacity() / 4) {
            return null;
        }
        Account account = charged.newAccount();
        account.charge(Cost.CONNECTION);
        return account;
    }

    /** Whether requests are let in; each is charged to its connection's account besides. */
    public boolean admitsRequests() {
        return !overload.refusesRequests();
    }
}
