package dev.gateway.overload;

import org.jspecify.annotations.Nullable;

/**
 * Where new work of one event loop is let in or refused: connections while there is much room, requests of connections
 * that are there as long as there is any. Confined to its loop but for {@link Overload}, which loops share.
 */
public final class LoopGate {
    /** Lets everything in and counts nothing: where something else bounds what comes in, and for tests. */
    public static final LoopGate OPEN = new LoopGate(new Overload(), null);

    /** What a connection that ends costs, compared with an answer on one that stays open. */
    private static final int CLOSING = 4;

    private final Overload overload;
    private final @Nullable LoopBudget budget;
    private final @Nullable RefusalPace pace;

    /**
     * Makes the gate of an event loop.
     *
     * @param budget what connections and requests of the loop are charged to, null to count nothing
     */
    public LoopGate(Overload overload, @Nullable LoopBudget budget) {
        this.overload = overload;
        this.budget = budget;
        this.pace = budget == null ? null : new RefusalPace();
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

    /** Whether every connection that comes now is refused. */
    public boolean refusesConnections() {
        return overload.refusesConnections();
    }

    /**
     * A client was refused that may ask again at once.
     *
     * @param now by the loop's clock
     * @param closing whether its connection ends, so that it needs another one to ask again, which costs more
     * @return for how many milliseconds it is to be left alone, so that others are served meanwhile
     */
    public long refuse(long now, boolean closing) {
        return pace == null ? 0 : pace.refuse(now, closing ? CLOSING : 1);
    }

    /** Whether requests are let in; each is charged to its connection's account besides. */
    public boolean admitsRequests() {
        return !overload.refusesRequests();
    }
}
