package dev.gateway.filter.auth;

import dev.gateway.filter.auth.AccountFiles.State;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.Identity;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The passwords of an entry that wait to be hashed, or are being hashed: each once, however many requests show it, and
 * not at all if none of those is left. Used by all event loops, which only take notes here, and by {@link AuthWork}.
 */
final class PasswordChecks {
    private static final Identity WRONG = new Identity("", Set.of());

    /** Also the lock of all entries: one entry's check may push another entry's out of the queue. */
    private final AuthWork work;

    private final VerifiedCredentials<Identity> verified;
    private final VerifiedCredentials<Identity> wrong;
    private final Map<Digest, Check> checks = new HashMap<>(); // guarded by work

    /**
     * Makes it, empty.
     *
     * @param verified receives passwords that are right
     * @param wrong receives those that are wrong
     */
    PasswordChecks(AuthWork work, VerifiedCredentials<Identity> verified, VerifiedCredentials<Identity> wrong) {
        this.work = work;
        this.verified = verified;
        this.wrong = wrong;
    }

    /** Who wants a password checked. */
    interface Requester {
        /** Returns whose passwords count together. */
        ClientNetwork client();

        /** Returns for whom wrong passwords count together. */
        Object user();

        /**
         * Hashes the password. Called on one of the threads for that.
         *
         * @return who the client is, null if the password is wrong
         */
        @Nullable
        Identity check(State state);

        /** It waits for that check from now on. */
        void waitsFor(Check made);

        /** Takes the answer, on whatever thread; null for a wrong password. */
        void onChecked(@Nullable Identity identity);

        /** Learns that its password will not be checked, on whatever thread. */
        void onEvicted();
    }

    /** What became of the wish to have a password checked. */
    enum Outcome {
        /** It will be checked, and the requester is told. */
        WAITS,
        /** So many of this client's wait already that others would not get their turn. */
        CLIENT_HAS_TOO_MANY,
        /** So many wait already that it would take too long. */
        TOO_MANY
    }

    /** Has a password checked, or waits with others for the check that there is. */
    Outcome add(Requester requester, Digest digest, State state) {
        synchronized (work) {
            return addLocked(requester, digest, state);
        }
    }

    private Outcome addLocked(Requester requester, Digest digest, State state) {
        Check same = checks.get(digest);
        if (same != null && same.isAgainst(state)) {
            same.requesters.add(requester);
            requester.waitsFor(same);
            return Outcome.WAITS;
        }
        Check check = new Check(requester, digest, state);
        try {
            if (!work.hash(check.client, check)) {
                return Outcome.CLIENT_HAS_TOO_MANY;
            }
        } catch (RejectedExecutionException e) {
            return Outcome.TOO_MANY;
        }
        checks.put(digest, check);
        requester.waitsFor(check);
        return Outcome.WAITS;
    }

    /** One password on its way. */
    final class Check implements HashingTask {
        private final Digest digest;
        private final State state;
        private final Object client; // whose it was first
        private final Object user;
        private final Set<Requester> requesters = new HashSet<>(2); // all of them show the same password

        private Check(Requester first, Digest digest, State state) {
            this.digest = digest;
            this.state = state;
            this.client = first.client();
            this.user = first.user();
            requesters.add(first);
        }

        @SuppressWarnings("ReferenceEquality") // what is read again is another state, whatever it says
        private boolean isAgainst(State current) {
            return state == current;
        }

        /** A requester does not wait any more. */
        void leave(Requester requester) {
            synchronized (work) {
                requesters.remove(requester);
            }
        }

        @Override
        public void run() {
            Requester asking;
            synchronized (work) {
                if (requesters.isEmpty()) {
                    checks.remove(digest, this);
                    return;
                }
                asking = requesters.iterator().next();
            }
            @Nullable Identity identity = null;
            try {
                identity = asking.check(state);
                if (identity != null) {
                    verified.add(digest, identity, state);
                } else {
                    wrong.add(digest, WRONG, state);
                    work.failed(client, user);
                }
            } finally {
                for (Requester requester : end()) {
                    requester.onChecked(identity);
                }
            }
        }

        @Override
        public void evicted() {
            end().forEach(Requester::onEvicted);
        }

        private List<Requester> end() {
            synchronized (work) {
                checks.remove(digest, this);
                return List.copyOf(requesters);
            }
        }
    }
}
