package dev.gateway.filter.auth;

import dev.gateway.stream.ClientNetwork;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits how many passwords of one user are checked for clients that have not logged in as that user before, from whatever
 * addresses: {@value #BURST} at once, then one each 750 ms. A password that was right does not count. Others wait for their
 * turn: the network is next whose last one is longest ago. So networks with many addresses, however many networks they are, delay
 * one from which nobody has guessed by one turn only. Clients that have failed come last. Bounded; safe from any thread.
 */
final class Guesses {
    static final int BURST = 20;
    static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(750); // with the burst, 100 in the first minute
    static final long MOST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** More than have their turn while they may wait. */
    static final int WAITING_PER_NETWORK = 8;

    private static final int MOST_WAITING = 1024;
    private static final int MOST_USERS = 10_000;

    /** More than one user has in half an hour. */
    private static final int MOST_TURNS = 4096;

    private final LongSupplier nanoClock;
    private final Delay delay;
    private final Map<Object, User> users = new HashMap<>();
    private final Map<Turns, LastTurn> lastTurns = new LinkedHashMap<>(); // the oldest first
    private long turns; // so far
    private int waiting;

    /** Runs something later, on whatever thread. */
    interface Delay {
        void run(Runnable task, long nanos);
    }

    /** Who has a password to be checked. */
    interface Guesser {
        /**
         * Its turn has come, on whatever thread.
         *
         * @param may false if it has waited too long
         */
        void onTurn(boolean may);
    }

    /** What becomes of a password. */
    enum Entry {
        NOW,
        LATER,
        /** Too many wait already. */
        NEVER
    }

    private record Waiter(Guesser guesser, long sinceNanos) {}

    /** Whose turns they are. */
    private record Turns(Object user, Network network) {}

    /** Numbers of the last turn, and of the one before; 0 for none. */
    private record LastTurn(long number, long before) {}

    Guesses(LongSupplier nanoClock, Delay delay) {
        this.nanoClock = nanoClock;
        this.delay = delay;
    }

    /** What addresses are likely to belong to one guesser, as a provider hands them out: 8 bits of IPv4, 32 of IPv6. */
    private record Network(ClientNetwork.Kind kind, long high) {
        static Network of(ClientNetwork client) {
            return new Network(
                    client.kind(),
                    switch (client.kind()) {
                        case IPV4 -> client.high() >>> 24;
                        case IPV6 -> client.high() >>> 32;
                        default -> 0;
                    });
        }
    }

    /** Has a password of a user checked at once, or later. */
    synchronized Entry enter(Object key, ClientNetwork client, boolean suspected, Guesser guesser) {
        User user = users.get(key);
        if (user == null) {
            makeRoom();
            user = new User(key, nanoClock.getAsLong());
            users.put(key, user);
        }
        Network from = Network.of(client);
        if (user.isNobodyWaiting() && user.take()) {
            countTurn(key, from);
            return Entry.NOW;
        }
        Map<Network, Deque<Waiter>> networks = suspected ? user.suspected : user.others;
        Deque<Waiter> network = networks.computeIfAbsent(from, each -> new ArrayDeque<>(2));
        if (network.size() >= WAITING_PER_NETWORK || waiting >= MOST_WAITING || !user.awaitTurn()) {
            if (network.isEmpty()) {
                networks.remove(from);
            }
            return Entry.NEVER;
        }
        network.add(new Waiter(guesser, nanoClock.getAsLong()));
        waiting++;
        return Entry.LATER;
    }

    private void countTurn(Object user, Network network) {
        Turns of = new Turns(user, network);
        LastTurn before = lastTurns.remove(of);
        lastTurns.put(of, new LastTurn(++turns, before == null ? 0 : before.number));
        if (lastTurns.size() > MOST_TURNS) {
            lastTurns.remove(lastTurns.keySet().iterator().next());
        }
    }

    private long lastTurn(Object user, Network network) {
        LastTurn last = lastTurns.get(new Turns(user, network));
        return last == null ? 0 : last.number;
    }

    /** Somebody does not wait any more. */
    synchronized void leave(Object key, Guesser guesser) {
        User user = users.get(key);
        if (user != null) {
            user.remove(guesser);
        }
    }

    /** A password of a client was right, or has not been checked after all: it has had no turn. */
    void giveBack(Object key, ClientNetwork client) {
        List<Waiter> next = new ArrayList<>(1);
        synchronized (this) {
            lastTurns.computeIfPresent(
                    new Turns(key, Network.of(client)),
                    (of, last) -> last.before == 0 ? null : new LastTurn(last.before, last.before));
            User user = users.get(key);
            if (user != null) {
                user.tokens = Math.min(BURST, user.tokens + 1);
                user.serve(next, new ArrayList<>(0));
            }
        }
        next.forEach(each -> each.guesser.onTurn(true));
    }

    private void onTime(Object key) {
        List<Waiter> next = new ArrayList<>(1);
        List<Waiter> late = new ArrayList<>(0);
        synchronized (this) {
            User user = users.get(key);
            if (user != null) {
                user.ticking = false;
                user.serve(next, late);
            }
        }
        next.forEach(each -> each.guesser.onTurn(true));
        late.forEach(each -> each.guesser.onTurn(false));
    }

    /**
     * Drops users of whom nothing is known any more, or else those of whom least is known: so many that the next ones need
     * not look through all again. Users with many guesses come last, or else a guesser would only have to name many others.
     */
    private void makeRoom() {
        if (users.size() < MOST_USERS) {
            return;
        }
        users.values().removeIf(User::isAsNew);
        makeRoom(BURST / 2);
        makeRoom(0);
    }

    private void makeRoom(int leastTokens) {
        Iterator<User> all = users.values().iterator();
        while (users.size() > MOST_USERS - MOST_USERS / 16 && all.hasNext()) {
            User user = all.next();
            if (user.tokens >= leastTokens && user.isNobodyWaiting()) {
                all.remove();
            }
        }
    }

    synchronized int size() {
        return users.size();
    }

    /** What is known of one user. Guarded by the whole. */
    private final class User {
        final Object key;
        final Map<Network, Deque<Waiter>> others = new LinkedHashMap<>(2); // in the order in which they have come
        final Map<Network, Deque<Waiter>> suspected = new LinkedHashMap<>(2);
        int tokens = BURST;
        long filledNanos; // when the last token came
        boolean ticking;

        User(Object key, long now) {
            this.key = key;
            this.filledNanos = now;
        }

        boolean isNobodyWaiting() {
            return others.isEmpty() && suspected.isEmpty();
        }

        boolean isAsNew() {
            fill();
            return tokens == BURST && isNobodyWaiting();
        }

        private void fill() {
            long now = nanoClock.getAsLong();
            long come = (now - filledNanos) / INTERVAL_NANOS;
            tokens = (int) Math.min(BURST, tokens + come);
            filledNanos = tokens == BURST ? now : filledNanos + come * INTERVAL_NANOS;
        }

        boolean take() {
            fill();
            if (tokens == 0) {
                return false;
            }
            tokens--;
            return true;
        }

        /** Schedules a look at the waiters for when the next token comes; returns false if the timer refuses it. */
        boolean awaitTurn() {
            if (!ticking) {
                try {
                    delay.run(() -> onTime(key), filledNanos + INTERVAL_NANOS - nanoClock.getAsLong());
                } catch (RejectedExecutionException e) {
                    return false;
                }
                ticking = true;
            }
            return true;
        }

        /** Takes out those whose turn it is, and those who have waited too long. */
        void serve(List<Waiter> next, List<Waiter> late) {
            fill();
            takeLate(others, late);
            takeLate(suspected, late);
            while (tokens > 0) {
                Waiter found = poll(others);
                found = found == null ? poll(suspected) : found;
                if (found == null) {
                    return;
                }
                tokens--;
                next.add(found);
            }
            if (!isNobodyWaiting()) {
                awaitTurn();
            }
        }

        private @Nullable Waiter poll(Map<Network, Deque<Waiter>> networks) {
            Map.Entry<Network, Deque<Waiter>> next = null;
            long oldest = Long.MAX_VALUE;
            for (Map.Entry<Network, Deque<Waiter>> each : networks.entrySet()) {
                long last = lastTurn(key, each.getKey());
                if (last < oldest) {
                    next = each;
                    oldest = last;
                }
            }
            if (next == null) {
                return null;
            }
            countTurn(key, next.getKey());
            Waiter found = next.getValue().remove();
            waiting--;
            if (next.getValue().isEmpty()) {
                networks.remove(next.getKey());
            }
            return found;
        }

        private void takeLate(Map<Network, Deque<Waiter>> networks, List<Waiter> late) {
            long now = nanoClock.getAsLong();
            networks.values().removeIf(network -> {
                while (!network.isEmpty() && now - network.element().sinceNanos > MOST_WAIT_NANOS) {
                    late.add(network.remove());
                    waiting--;
                }
                return network.isEmpty();
            });
        }

        void remove(Guesser guesser) {
            remove(others, guesser);
            remove(suspected, guesser);
        }

        private void remove(Map<Network, Deque<Waiter>> networks, Guesser guesser) {
            networks.values().removeIf(network -> {
                if (network.removeIf(each -> each.guesser == guesser)) {
                    waiting--;
                }
                return network.isEmpty();
            });
        }
    }
}
