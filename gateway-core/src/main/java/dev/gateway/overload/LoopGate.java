package dev.gateway.overload;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.ClientMemory;
import dev.gateway.overload.memory.ClientShares;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.PendingRequestMemory;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Admission control of one event loop: admits or refuses its new work. It admits connections while much memory is left, and
 * requests of open connections as long as any is left. Confined to its loop, except {@link Overload}, which loops share.
 */
public final class LoopGate {
    /** Admits everything and counts nothing: for tests, and where something else limits new work. */
    public static final LoopGate OPEN = new LoopGate(new Overload(), null, null);

    /** A refusal takes about 20 µs, so refusals take a twenty-fifth of the loop's time. A client waits a second at most. */
    private static final long REFUSAL_NANOS = 500_000;

    /**
     * Time per connection that replaces another one. The gateway then serves it, so this may take more of the loop's time.
     */
    private static final long EXCHANGE_NANOS = 125_000;

    /** Cost of a refusal that ends the connection, compared with one on a connection that stays open. */
    private static final int CLOSING = 4;

    /** Maximum number of connections to check for one that can make room for another. */
    private static final int LOOKED_AT = 64;

    /** For one new connection. Two, to make up for those that were admitted without room. */
    private static final int MOST_CLOSED = 2;

    /** How long a new connection waits for room before the gateway refuses it. */
    private static final long PATIENCE_NANOS = 2_000_000_000L;

    private final Overload overload;
    private final @Nullable LoopBudget budget;
    private final @Nullable LoopBudget waitingBodies;
    private final ClientShares clients;
    private final int loops;
    private final @Nullable RefusalPace pace;
    private final RefusalPace exchanging = new RefusalPace(EXCHANGE_NANOS); // connections that replace others
    private final Set<Guest> guests = new LinkedHashSet<>(); // the first was not checked for the longest time
    private int askedInVain; // how many were asked since a descriptor ran short and one of them gave way
    private boolean full; // there was no room for the last accepted connection
    private long fullNanos; // since when there is no room

    /**
     * Makes the gate of an event loop.
     *
     * @param budget the budget for connections and requests of the loop, null to count nothing
     * @param waitingBodies the budget for bodies of requests while they wait, null not to count them
     */
    public LoopGate(Overload overload, @Nullable LoopBudget budget, @Nullable LoopBudget waitingBodies) {
        this(overload, budget, waitingBodies, new ClientShares(), 1);
    }

    /**
     * Makes the gate of one of several event loops.
     *
     * @param clients what each client holds on all loops
     * @param loops how many loops share the limit of requests in flight
     */
    public LoopGate(
            Overload overload,
            @Nullable LoopBudget budget,
            @Nullable LoopBudget waitingBodies,
            ClientShares clients,
            int loops) {
        this.clients = clients;
        this.loops = loops;
        this.overload = overload;
        this.budget = budget;
        this.waitingBodies = waitingBodies;
        this.pace = budget == null ? null : new RefusalPace(REFUSAL_NANOS);
    }

    /** An admitted connection. */
    public interface Guest {
        /**
         * Closes the connection if it is not in use, because a resource is short; returns whether it has.
         *
         * @param urgent whether nothing is left, so that a connection gives way soon after its last response, too
         */
        boolean giveWay(Resource because, boolean urgent);

        /** Returns the client that it counts for, null for none. */
        default @Nullable ClientMemory client() {
            return null;
        }
    }

    /** A connection was admitted. */
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
     * Admits a connection and returns its account, which already has the cost of the connection; returns null to refuse it.
     * If there is no room, closes another connection that its client does not use now.
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
        Account account = newAccount();
        account.charge(Cost.CONNECTION);
        return account;
    }

    /**
     * It is known now whose connection was admitted. Its account counts for that client; returns false if the client holds
     * all of its share already, so that the connection is to be closed.
     *
     * @param client equal for all connections of the client
     */
    public boolean admitClient(Account account, Object client) {
        if (budget == null) {
            return true;
        }
        account.countFor(clients, client);
        // Like a budget that is crowded, and then full: an eighth of it is for requests of open connections.
        boolean admitted = account.hasShare(2) || makeRoomOf(account.client()) || account.hasShare(1);
        if (!admitted) {
            overload.actions().count(Resource.CLIENT_HEAP, Action.REFUSE_CONNECTION);
        }
        return admitted;
    }

    /**
     * Returns the account of a request that a trusted proxy passes on for this client, null if nothing counts. {@link
     * Account#leave} must follow.
     */
    public @Nullable Account accountOf(Object client) {
        if (budget == null) {
            return null;
        }
        Account account = newAccount();
        account.countFor(clients, client);
        return account;
    }

    /** Returns another account with the budgets of this loop, which has nothing yet. */
    public Account newAccount() {
        if (budget == null) {
            return Account.UNLIMITED;
        }
        return waitingBodies == null ? new Account(budget) : new Account(budget, waitingBodies);
    }

    /** Whether a new connection needs another one to close. A quarter of the budget is for requests of open connections. */
    private static boolean isCrowded(LoopBudget charged) {
        return charged.left() < charged.capacity() / 4;
    }

    /** Whether there is no room at all. It admits some more if no connection closes, since new ones are never idle yet. */
    private static boolean isFull(LoopBudget charged) {
        return charged.left() < charged.capacity() * 3 / 16;
    }

    /** Closes one or two unused connections for a new one, those of answered peers first. Returns whether it has. */
    private boolean makeRoom(Resource because) {
        int answered = AnsweredPeers.ofThisLoop().giveWay(MOST_CLOSED, LOOKED_AT);
        for (int i = 0; i < answered; i++) {
            overload.actions().count(because, Action.CLOSE_IDLE);
        }
        return answered + closeUnused(because, false, MOST_CLOSED - answered, guest -> true) > 0;
    }

    /** Closes one or two unused connections of a client that has its share. Returns whether it has. */
    private boolean makeRoomOf(@Nullable ClientMemory client) {
        return client != null
                && closeUnused(Resource.CLIENT_HEAP, false, MOST_CLOSED, guest -> client.equals(guest.client())) > 0;
    }

    /**
     * Looks for unused connections among the next ones of those that may be asked.
     *
     * @param urgent whether connections may give way soon after their last response, too
     * @return how many it has closed
     */
    private int closeUnused(Resource because, boolean urgent, int most, Predicate<Guest> asked) {
        int closed = 0;
        for (int i = Math.min(LOOKED_AT, guests.size()); i > 0 && closed < most; i--) {
            Guest first = guests.iterator().next();
            guests.remove(first);
            guests.add(first); // moves it to the end
            if (asked.test(first) && first.giveWay(because, urgent)) {
                guests.remove(first);
                overload.actions().count(because, Action.CLOSE_IDLE);
                closed++;
            }
        }
        return closed;
    }

    /** Whether a client has more connections than an equal share, if one more client came. */
    private boolean hasMuch(@Nullable ClientMemory client) {
        return client != null && (long) client.users() * (clients.size() + 1) > (long) guests.size() * loops;
    }

    /**
     * A connection was accepted. Limits how fast connections replace each other while there is no room.
     *
     * @param now by the loop's clock
     * @return how many milliseconds not to accept another one; after that, call {@link #mayAccept}
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
     * Whether to accept connections again. If there is no room, they first wait in the listen queue for a while, because
     * other connections may soon become idle.
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

    /** An unused connection has given way, as its client has more than its share of a listener's, and others found no room. */
    public void onGivenWayToOthers() {
        overload.actions().count(Resource.CONNECTIONS, Action.CLOSE_IDLE);
    }

    /**
     * Clients have taken nearly all file descriptors for clients: closes one or two connections that are not in use.
     *
     * @param all whether none is left. If none of all connections was unused for long, one gives way that was used a moment ago
     */
    public void onFilesFull(boolean all) {
        askedInVain = Math.min(guests.size(), askedInVain + LOOKED_AT);
        if (makeRoom(Resource.OPEN_FILES)) {
            askedInVain = 0;
        } else if (all && askedInVain == guests.size()) {
            closeUnused(Resource.OPEN_FILES, true, MOST_CLOSED, guest -> hasMuch(guest.client()));
        }
    }

    /** A connection was refused because {@link #refusesConnections} is true. */
    public void onConnectionShed() {
        overload.onRefused(Action.REFUSE_CONNECTION);
    }

    /** Whether to refuse every new connection. */
    public boolean refusesConnections() {
        return overload.refusesConnections();
    }

    /**
     * A client was refused that may try again at once.
     *
     * @param now by the loop's clock
     * @param closing whether its connection ends, so that it must connect again, which costs more
     * @return how many milliseconds to ignore it, so that the loop serves others meanwhile
     */
    public long refuse(long now, boolean closing) {
        return pace == null ? 0 : pace.refuse(now, closing ? CLOSING : 1);
    }

    /**
     * Whether one more request may wait for an upstream. All requests that wait for one upstream may hold at most as much
     * as is left for everything else. So an upstream that does not answer leaves room for the others, however many there
     * are. While half of the budget is left, this holds for each upstream, and needs no check.
     *
     * @param pending the memory that the upstream's waiting requests already hold
     * @param bytes the bytes that the request holds, which are already charged
     */
    public boolean admits(PendingRequestMemory pending, long bytes) {
        LoopBudget charged = budget;
        if (charged == null) {
            return true;
        }
        long left = charged.left();
        boolean admitted = left >= charged.capacity() / 2 || pending.held() + bytes <= left;
        if (!admitted) {
            countNoRoom();
        }
        return admitted;
    }

    /**
     * Whether to admit another request. The caller also charges it to its connection's account.
     *
     * @param exchanges how many exchanges this loop has, including this one
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

    /**
     * A request was refused because the budget of heap for clients is used up, or what its client may hold of it.
     *
     * @param account that it was not charged to
     * @param bytes that it needed
     * @param client whose request it is, for the log
     */
    public void onNoRoomForRequest(Account account, long bytes, String listener, Object client) {
        countNoRoom();
        if (account.isShareUsedUp(bytes)) {
            overload.shares().tell(listener, client);
        }
    }

    private void countNoRoom() {
        overload.actions().count(Resource.CLIENT_HEAP, Action.REFUSE_REQUEST);
    }

    /** Whether connections must close after the exchanges in progress. */
    public boolean endsKeepAlive() {
        return overload.endsKeepAlive();
    }

    /** The gateway has announced to a client that its connection closes, because {@link #endsKeepAlive} is true. */
    public void onKeepAliveEnded() {
        overload.onKeepAliveEnded();
    }
}
