package dev.gateway.filter.auth;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.auth.AccountFiles.State;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One request's credentials on their way to a verdict: on the exchange's event loop, with excursions to {@link AuthWork}
 * for a look at the files and for hashing. Nothing is answered once it is cancelled.
 */
final class Login {
    private static final Verdict OVERLOAD =
            new Verdict.Refuse(Failure.of(Cause.OVERLOAD, "too many passwords wait to be checked"));
    private static final Verdict LIMITED = new Verdict.Refuse(
            Failure.of(Cause.RATE_LIMITED, "too many passwords from this client's address wait to be checked"));

    private static final Verdict FAILED_TOO_OFTEN = new Verdict.Refuse(
            Failure.of(Cause.RATE_LIMITED, "too many wrong passwords from this client's address, or for this user"));
    private static final Verdict EVICTED = new Verdict.Refuse(Failure.of(
            Cause.RATE_LIMITED, "too many passwords wait to be checked, and this client has shown wrong ones"));

    private final ProxyAuthentication filter;
    private final Credentials shown;
    private final FilterContext context;
    private final Verdict.Wait waiting = new Verdict.Wait(this::cancel);
    private PasswordChecks.@Nullable Check check;
    private boolean cancelled;

    Login(ProxyAuthentication filter, Credentials shown, FilterContext context) {
        this.filter = filter;
        this.shown = shown;
        this.context = context;
    }

    private void cancel() {
        cancelled = true;
        if (check != null) {
            check.leave(this);
        }
    }

    Verdict begin() {
        if (filter.files().isFresh()) {
            return judge();
        }
        try {
            filter.work().files().execute(() -> {
                filter.files().refresh();
                onLoop(this::judgeAndResume);
            });
            return waiting;
        } catch (RejectedExecutionException e) {
            return judge(); // with files that are a bit older
        }
    }

    private void judgeAndResume() {
        Verdict verdict = judge();
        if (verdict != waiting) {
            context.resume(verdict);
        }
    }

    private Verdict judge() {
        State state = filter.files().state();
        return switch (shown.scheme()) {
            case CERTIFICATE -> answer(state.groups().identity(new String(shown.secret(), StandardCharsets.UTF_8)));
            case BEARER -> answer(owner(state));
            case BASIC -> password(state);
        };
    }

    private Verdict password(State state) {
        Digest digest = filter.verified().digest(shown.secret());
        Identity known = filter.verified().find(digest, state);
        if (known != null) {
            return answer(known);
        }
        if (filter.wrong().find(digest, state) != null) {
            return answer(null);
        }
        // Strangers must not lock a user out: his failures count only for clients that have failed themselves.
        FailureCounts failures = filter.work().failures();
        if (failures.isFull(client()) || (failures.any(client()) && failures.isFull(user()))) {
            return FAILED_TOO_OFTEN;
        }
        return switch (filter.checks().add(this, digest, state)) {
            case WAITS -> waiting;
            case CLIENT_HAS_TOO_MANY -> LIMITED;
            case TOO_MANY -> OVERLOAD;
        };
    }

    /** Returns whose passwords count together. */
    ClientNetwork client() {
        return context.client().network();
    }

    /** Returns for whom wrong passwords count together: the user, by a digest, since a name may be long. */
    Digest user() {
        return filter.verified().digest(Arrays.copyOf(shown.secret(), shown.colon()));
    }

    void waitsFor(PasswordChecks.Check made) {
        check = made;
    }

    /** Takes the answer, on whatever thread; null for a wrong password. */
    void onChecked(@Nullable Identity identity) {
        onLoop(() -> context.resume(answer(identity)));
    }

    /** Learns that its password will not be checked, on whatever thread. */
    void onEvicted() {
        onLoop(() -> context.resume(EVICTED));
    }

    private @Nullable Identity owner(State state) {
        String name = state.tokens().owner(shown.secret());
        return name == null ? null : state.groups().identity(name);
    }

    /** Hashes the password whether the user exists or not. Called on one of the threads for that. */
    @Nullable
    Identity check(State state) {
        int colon = shown.colon();
        String user = utf8(shown.secret(), colon);
        PasswordHash hash = user == null ? null : state.users().hashes().get(user);
        PasswordHash checked = hash != null ? hash : state.users().decoy(user().hashCode());
        byte[] password = Arrays.copyOfRange(shown.secret(), colon + 1, shown.secret().length);
        boolean right = checked != null && checked.matches(password);
        return user != null && hash != null && right ? state.groups().identity(user) : null;
    }

    private static @Nullable String utf8(byte[] bytes, int length) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, 0, length))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    private Verdict answer(@Nullable Identity identity) {
        return identity == null ? filter.refuse("wrong credentials") : filter.accept(identity, context);
    }

    private void onLoop(Runnable task) {
        try {
            context.loop().execute(() -> {
                if (!cancelled) {
                    task.run();
                }
            });
        } catch (RejectedExecutionException e) {
            // The loop is being shut down, and the exchange with it.
        }
    }
}
