package dev.gateway.filter.auth;

import dev.gateway.filter.auth.AccountFiles.State;
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

    private final VerifiedCredentials verified;
    private final VerifiedCredentials wrong;
    private final Map<Digest, Check> checks = new HashMap<>(); // guarded by work

    /**
     * Makes it, empty.
     *
     * @param verified is told of passwords that are right
     * @param wrong is told of those that are not
     */
    PasswordChecks(AuthWork work, VerifiedCredentials verified, VerifiedCredentials wrong) {
        this.work = work;
        this.verified = verified;
        this.wrong = wrong;
    }

    /** What became of the wish to have a password checked. */
    enum Outcome {
        /** It will be checked, and the login is told. */
        WAITS,
        /** So many of this client's wait already that others would not get their turn. */
        CLIENT_HAS_TOO_MANY,
        /** So many wait already that it would take too long. */
        TOO_MANY
    }

    /** Has a password checked, or waits with others for the check that there is. */
    Outcome add(Login login, Digest digest, State state) {
        synchronized (work) {
            return addLocked(login, digest, state);
        }
    }

    private Outcome addLocked(Login login, Digest digest, State state) {
        Check same = checks.get(digest);
        if (same != null && same.isAgainst(state)) {
            same.logins.add(login);
            login.waitsFor(same);
            return Outcome.WAITS;
        }
        Check check = new Check(login, digest, state);
        try {
            if (!work.hash(check.client, check)) {
                return Outcome.CLIENT_HAS_TOO_MANY;
            }
        } catch (RejectedExecutionException e) {
            return Outcome.TOO_MANY;
        }
        checks.put(digest, check);
        login.waitsFor(check);
        return Outcome.WAITS;
    }

    /** One password on its way. */
    final class Check implements HashingTask {
        private final Login first; // all logins show the same
        private final Digest digest;
        private final State state;
        private final Object client; // whose it was first
        private final Object user;
        private final Set<Login> logins = new HashSet<>(2);

        private Check(Login first, Digest digest, State state) {
            this.first = first;
            this.digest = digest;
            this.state = state;
            this.client = first.client();
            this.user = first.user();
            logins.add(first);
        }

        @SuppressWarnings("ReferenceEquality") // what is read anew is another state, whatever it says
        private boolean isAgainst(State current) {
            return state == current;
        }

        /** A login does not wait any more. */
        void leave(Login login) {
            synchronized (work) {
                logins.remove(login);
            }
        }

        @Override
        public void run() {
            synchronized (work) {
                if (logins.isEmpty()) {
                    checks.remove(digest, this);
                    return;
                }
            }
            @Nullable Identity identity = null;
            try {
                identity = first.check(state);
                if (identity != null) {
                    verified.add(digest, identity, state);
                } else {
                    wrong.add(digest, WRONG, state);
                    work.failed(client, user);
                }
            } finally {
                for (Login login : end()) {
                    login.onChecked(identity);
                }
            }
        }

        @Override
        public void evicted() {
            end().forEach(Login::onEvicted);
        }

        private List<Login> end() {
            synchronized (work) {
                checks.remove(digest, this);
                return List.copyOf(logins);
            }
        }
    }
}
