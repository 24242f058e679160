package dev.gateway.overload;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Admission control of one event loop. Where new work of one event loop is let in or refused: connections while there is
 * much room, requests of connections that are there as long as there is any. Confined to its loop, except {@link Overload},
 * which loops share.
 */
public final class LoopGate {
    /** Lets everything in and counts nothing: where something else bounds what comes in, and for tests. */
    public static final LoopGate OPEN = new LoopGate(new Overload(), null, null);

    /** A refusal takes some 20 µs, so refusals take a twenty-fifth of the loop's time; a client waits for a second at most. */
    private static final long REFUSAL_NANOS = 500_000;

    /** Who takes the place of another is served afterwards, so that may take more. */
    private static final long EXCHANGE_NANOS = 125_000;

    /** What a connection that ends costs, compared with an answer on one that stays open. */
    private static final int CLOSING = 4;

    /** So many connections are looked at to find one that makes room for another. */
    private static final int LOOKED_AT = 64;

    /** For so long nobody is refused though there is no room. */
    private static final long PATIENCE_NANOS = 2_000_000_000L;

    private final Overload overload;
    private final @Nullable LoopBudget budget;
    private final @Nullable LoopBudget waitingBodies;
    private final int loops;
    private final @Nullable RefusalPace pace;
    private final RefusalPace exchanging = new RefusalPace(EXCHANGE_NANOS); // connections that replace others
    private final Set<Guest> guests = new LinkedHashSet<>(); // first who was not looked at for longest
    private boolean full; // there was no room for the connection accepted last
    private long fullNanos; // since when

    /**
     * Makes the gate of an event loop.
     *
     * @param budget what connections and requests of the loop are charged to, null to count nothing
     * @param waitingBodies what bodies of requests are charged to while they wait, null not to count them
     */
    public LoopGate(Overload overload, @Nullable LoopBudget budget, @Nullable LoopBudget waitingBodies) {
        this(overload, budget, waitingBodies, 1);
    }

    /**
     * Makes the gate of one of several event loops.
     *
     * @param loops how many of them share what has a limit by number
     */
    public LoopGate(Overload overload, @Nullable LoopBudget budget, @Nullable LoopBudget waitingBodies, int loops) {
        this.loops = loops;
        this.overload = overload;
        this.budget = budget;
        this.waitingBodies = waitingBodies;
        this.pace = budget == null ? null : new RefusalPace(REFUSAL_NANOS);
    }

    /** A connection that has been let in. */
    public interface Guest {
        /** Closes the connection if nobody would miss it; returns whether it has. */
        boolean giveWay();
    }

    /** A connection has been let in and stays. */
    public void enter(Guest guest) {
        if (budget != null) {
            guests.add(guest);
        }
    }

    /** A connection is closed. */
    public void leave(Guest guest) {
        guests.remove(guest);
    }

    /**
     * Lets a connection in, and returns its account, charged with itself; null if it is refused. Where there is no room, it
     * takes the place of another that its client does not use now.
     */
    public @Nullable Account admitConnection() {
        if (overload.refusesConnections()) {
            onConnectionShed();
            return null;
        }
        LoopBudget charged = budget;
        if (charged == null) {
            return Account.UNLIMITED;
        }
        if (isCrowded(charged) && !makeRoom(Resource.CLIENT_HEAP) && isFull(charged)) {
            overload.actions().count(Resource.CLIENT_HEAP, Action.REFUSE_CONNECTION);
            return null;
        }
        Account account = waitingBodies == null ? new Account(charged) : new Account(charged, waitingBodies);
        account.charge(Cost.CONNECTION);
        return account;
    }

    /** A quarter is for requests: connected clients should be served. */
    private static boolean isCrowded(LoopBudget charged) {
        return charged.left() < charged.capacity() / 4;
    }

    /** Some more are let in where nobody gives way at once: those who have just come cannot do so yet. */
    private static boolean isFull(LoopBudget charged) {
        return charged.left() < charged.capacity() * 3 / 16;
    }

    /** Closes one or two connections for one that comes, so that there is more room later where more were let in before. */
    private boolean makeRoom(Resource because) {
        int closed = 0;
        for (int i = Math.min(LOOKED_AT, guests.size()); i > 0 && closed < 2; i--) {
            Guest first = guests.iterator().next();
            guests.remove(first);
            guests.add(first); // at the end, until its turn comes again
            if (first.giveWay()) {
                guests.remove(first);
                overload.actions().count(because, Action.CLOSE_IDLE);
                closed++;
            }
        }
        return closed > 0;
    }

    /**
     * A connection was accepted. While there is room only in the place of others, they must not come and go all the time.
     *
     * @param now by the loop's clock
     * @return for how many milliseconds no other is to be accepted; then {@link #mayAccept} is to be asked
     */
    public long accepted(long now) {
        if (budget == null || !isCrowded(budget)) {
            full = false;
            return 0;
        }
        long millis = exchanging.refuse(now, CLOSING);
        if (!isFull(budget)) {
            full = false;
            return millis;
        }
        if (!full) {
            full = true;
            fullNanos = now;
        }
        boolean waits = now - fullNanos < PATIENCE_NANOS && !makeRoom(Resource.CLIENT_HEAP);
        return waits ? Math.max(millis, 1) : millis;
    }

    /**
     * Whether connections are to be accepted again. Where there is no room for any, they wait in the listen queue for a
     * while before they are refused: others may soon give way.
     *
     * @param now by the loop's clock
     */
    public boolean mayAccept(long now) {
        return budget == null
                || !full
                || !isFull(budget)
                || now - fullNanos >= PATIENCE_NANOS
                || makeRoom(Resource.CLIENT_HEAP);
    }

    /** Clients have all file descriptors that are for them: connections that are not in use give way. */
    public void onFilesFull() {
        makeRoom(Resource.OPEN_FILES);
    }

    /** A connection was refused because {@link #refusesConnections}. */
    public void onConnectionShed() {
        overload.onRefused(Action.REFUSE_CONNECTION);
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

    /**
     * Whether one more request may wait for an upstream. Those that wait for one may hold as much as is left for everybody
     * else, and no more; so an upstream that does not answer leaves room for the others, however many there are. While
     * half of the budget is left, that is true of every upstream, and is not looked at.
     *
     * @param pending what the upstream's requests hold already
     * @param bytes what the request holds, and has been charged
     */
    public boolean admits(PendingRequestMemory pending, long bytes) {
        LoopBudget charged = budget;
        if (charged == null) {
            return true;
        }
        long left = charged.left();
        boolean admitted = left >= charged.capacity() / 2 || pending.held() + bytes <= left;
        if (!admitted) {
            onNoRoomForRequest();
        }
        return admitted;
    }

    /**
     * Whether another request is let in; each is charged to its connection's account besides.
     *
     * @param exchanges how many of this loop there are, with that one
     */
    public boolean admitsRequest(int exchanges) {
        if (overload.refusesRequests()) {
            overload.onRefused(Action.REFUSE_REQUEST);
            return false;
        }
        int most = overload.requestsInFlight();
        if (most > 0 && exchanges > Math.max(1, most / loops)) {
            overload.actions().count(Resource.REQUESTS_IN_FLIGHT, Action.REFUSE_REQUEST);
            return false;
        }
        return true;
    }

    /** A request was refused for want of heap that may be charged. */
    public void onNoRoomForRequest() {
        overload.actions().count(Resource.CLIENT_HEAP, Action.REFUSE_REQUEST);
    }

    /** Whether a connection is to end when what runs on it has. */
    public boolean endsKeepAlive() {
        return overload.endsKeepAlive();
    }

    /** A client was told that its connection ends, because {@link #endsKeepAlive}. */
    public void onKeepAliveEnded() {
        overload.onKeepAliveEnded();
    }
}
