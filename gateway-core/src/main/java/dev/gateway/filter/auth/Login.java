package dev.gateway.filter.auth;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.auth.AccountFiles.State;
import dev.gateway.message.FieldText;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One request's credentials on their way to a verdict: on the exchange's event loop, with excursions to {@link AuthWork}
 * for a look at the files and for hashing. Nothing is answered once it is cancelled.
 */
public final class Login implements PasswordChecks.Requester, Guesses.Guesser {
    private static final Verdict OVERLOAD =
            new Verdict.Refuse(Failure.of(Cause.OVERLOAD, "too many passwords wait to be checked"));
    private static final Verdict LIMITED = new Verdict.Refuse(
            Failure.of(Cause.RATE_LIMITED, "too many passwords from this client's address wait to be checked"));

    private static final Verdict FAILED_TOO_OFTEN = new Verdict.Refuse(
            Failure.of(Cause.RATE_LIMITED, "too many wrong passwords from this client's address, or for this user"));
    private static final Verdict TOO_MANY_FOR_USER = new Verdict.Refuse(Failure.of(
            Cause.RATE_LIMITED,
            "too many wrong passwords for this user, and it has not logged in from this address before"));
    private static final Verdict EVICTED = new Verdict.Refuse(Failure.of(
            Cause.RATE_LIMITED, "too many passwords wait to be checked, and this client has shown wrong ones"));

    private final LoginServices services;
    private final Credentials shown;
    private final FilterContext context;
    private final Verdict.Wait waiting = new Verdict.Wait(this::cancel);
    private PasswordChecks.@Nullable Check check;
    private @Nullable Object guessed; // the user, if this counts as a guess or waits to be one
    private volatile boolean guessing; // whether it counts
    private boolean cancelled;

    /** Begins with what a request has shown. */
    public Login(LoginServices services, Credentials shown, FilterContext context) {
        this.services = services;
        this.shown = shown;
        this.context = context;
    }

    private void cancel() {
        cancelled = true;
        if (check != null) {
            check.leave(this);
        } else if (guessed != null && !guessing) {
            services.work().guesses().leave(guessed, this);
        }
    }

    /** Returns the verdict, or one to wait for. Called once. */
    public Verdict begin() {
        if (services.files().isFresh()) {
            return judge();
        }
        try {
            services.work().files().execute(() -> {
                services.files().refresh();
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
        State state = services.files().state();
        return switch (shown.scheme()) {
            case CERTIFICATE -> answer(state.groups().identity(new String(shown.secret(), StandardCharsets.UTF_8)));
            case BEARER -> answer(owner(state));
            case BASIC -> password(state);
        };
    }

    private Verdict password(State state) {
        Digest digest = services.verified().digest(shown.secret());
        Identity known = services.verified().find(digest, state);
        if (known != null) {
            services.work().known().add(services.accounts(), known.name(), client());
            return unchecked(answer(known));
        }
        if (services.wrong().find(digest, state) != null) {
            return unchecked(answer(null));
        }
        // Strangers must not lock a user out: his failures count only for clients that have failed themselves.
        FailureCounts failures = services.work().failures();
        if (failures.isFull(client()) || (failures.any(client()) && failures.isFull(user()))) {
            return unchecked(FAILED_TOO_OFTEN);
        }
        if (guessing || hasLoggedIn()) {
            return hash(digest, state);
        }
        guessed = user();
        return switch (services.work()
                .guesses()
                .enter(guessed, client(), services.work().suspects(client()), this)) {
            case NOW -> {
                guessing = true;
                yield hash(digest, state);
            }
            case LATER -> waiting;
            case NEVER -> TOO_MANY_FOR_USER;
        };
    }

    private Verdict hash(Digest digest, State state) {
        return switch (services.checks().add(this, digest, state)) {
            case WAITS -> waiting;
            case CLIENT_HAS_TOO_MANY -> unchecked(LIMITED);
            case TOO_MANY -> unchecked(OVERLOAD);
        };
    }

    /** Whether the client has logged in as this user before, and has not failed of late. */
    private boolean hasLoggedIn() {
        String user = FieldText.decode(shown.secret(), 0, shown.colon());
        return user != null
                && services.work().known().has(services.accounts(), user, client())
                && !services.work().failures().any(client());
    }

    /** Nothing was guessed, after all. */
    private Verdict unchecked(Verdict verdict) {
        if (guessing) {
            guessing = false;
            services.work().guesses().giveBack(Objects.requireNonNull(guessed), client());
        }
        return verdict;
    }

    @Override
    public void onTurn(boolean may) {
        guessing = may;
        onLoop(() -> {
            if (may) {
                judgeAndResume();
            } else {
                context.resume(TOO_MANY_FOR_USER);
            }
        });
    }

    @Override
    public ClientNetwork client() {
        return context.client().network();
    }

    @Override
    public Object user() {
        return services.work().user(services.accounts(), Arrays.copyOf(shown.secret(), shown.colon()));
    }

    @Override
    public void waitsFor(PasswordChecks.Check made) {
        check = made;
    }

    @Override
    public void onChecked(@Nullable Identity identity) {
        if (identity != null) {
            services.work().known().add(services.accounts(), identity.name(), client());
            unchecked(Verdict.PROCEED);
        }
        onLoop(() -> context.resume(answer(identity)));
    }

    @Override
    public void onEvicted() {
        unchecked(EVICTED);
        onLoop(() -> context.resume(EVICTED));
    }

    private @Nullable Identity owner(State state) {
        String name = state.tokens().owner(shown.secret());
        return name == null ? null : state.groups().identity(name);
    }

    /** Hashes the password whether the user exists or not. */
    @Override
    public @Nullable Identity check(State state) {
        int colon = shown.colon();
        String user = FieldText.decode(shown.secret(), 0, colon);
        PasswordHash hash = user == null ? null : state.users().hashes().get(user);
        PasswordHash checked = hash != null ? hash : state.users().decoy(user().hashCode());
        byte[] password = Arrays.copyOfRange(shown.secret(), colon + 1, shown.secret().length);
        boolean right = checked != null && checked.matches(password);
        return user != null && hash != null && right ? state.groups().identity(user) : null;
    }

    private Verdict answer(@Nullable Identity identity) {
        if (identity == null) {
            return services.challenges().refuse("wrong credentials");
        }
        context.setIdentity(identity);
        return Verdict.PROCEED;
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
