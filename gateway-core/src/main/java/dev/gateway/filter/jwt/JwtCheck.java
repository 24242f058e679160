package dev.gateway.filter.jwt;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.auth.Digest;
import dev.gateway.filter.auth.HashingTask;
import dev.gateway.filter.jwt.jwks.RemoteKeys;
import dev.gateway.filter.jwt.jwks.RenewalOutcome;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.Failure;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One request's token on its way to a verdict: from the exchange's event loop to {@link SignatureWork} and back. If its key is
 * unknown and the issuer may have new ones, it waits for these once, and is verified again. Nothing is answered once it is
 * cancelled.
 */
final class JwtCheck implements HashingTask {
    private static final Verdict OVERLOAD =
            new Verdict.Refuse(Failure.of(Cause.OVERLOAD, "too many tokens wait to be verified"));
    private static final Verdict CROWDED =
            new Verdict.Refuse(Failure.of(Cause.OVERLOAD, "too many tokens wait for the keys of their issuer"));
    private static final Verdict LIMITED = new Verdict.Refuse(
            Failure.of(Cause.RATE_LIMITED, "too many tokens from this client's address wait to be verified"));
    private static final Verdict EVICTED = new Verdict.Refuse(Failure.of(
            Cause.RATE_LIMITED, "too many tokens wait to be verified, and this client has shown wrong ones"));

    private static final Verdict NO_ROOM =
            new Verdict.Refuse(Failure.of(Cause.OVERLOAD, "no memory is left for a token that waits"));

    /** What it takes besides the bytes of the token, in the queues, too. */
    static final long BYTES = 288;

    private final JwtTokens tokens;
    private final Digest digest;
    private JwtTokens.Keys keys; // changed by who runs it, one after the other
    private final ClientNetwork client;
    private boolean hasWaited; // for newer keys

    /** Null once the event loop has cancelled it: it may be kept in a queue for seconds, and must not keep the request. */
    private volatile @Nullable Asked asked;

    /** The request. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Asked(byte[] token, Function<JwtResult, Verdict> answer, FilterContext context) {
        long held() {
            return BYTES + token.length;
        }
    }

    /**
     * Makes it.
     *
     * @param answer makes a verdict of what became of the token, on the event loop
     */
    JwtCheck(
            JwtTokens tokens,
            byte[] token,
            Digest digest,
            JwtTokens.Keys keys,
            Function<JwtResult, Verdict> answer,
            FilterContext context) {
        this.tokens = tokens;
        this.digest = digest;
        this.keys = keys;
        this.client = context.client().network();
        this.asked = new Asked(token, answer, context);
    }

    /** Called once, before anything else, on the event loop. */
    Verdict begin() {
        Asked now = Objects.requireNonNull(asked);
        if (!now.context.tryHold(now.held(), true)) {
            return NO_ROOM;
        }
        Verdict refused = queue();
        if (refused != null) {
            now.context.release(now.held());
            return refused;
        }
        return new Verdict.Wait(() -> asked = null);
    }

    /** Has the token verified; returns why it is not. */
    private @Nullable Verdict queue() {
        return switch (tokens.work().add(client, this)) {
            case WAITS -> null;
            case CLIENT_HAS_TOO_MANY -> LIMITED;
            case TOO_MANY -> OVERLOAD;
        };
    }

    @Override
    public void run() {
        Asked now = asked;
        if (now == null) {
            return;
        }
        JwtResult result = tokens.verify(now.token, digest, keys);
        if (!(result instanceof JwtResult.NoKey missing)) {
            finish(result);
            return;
        }
        RemoteKeys remote = tokens.remote(missing.provider());
        if (remote == null || hasWaited) {
            finish(JwtTokens.NO_KEY);
        } else {
            hasWaited = true;
            remote.renew(client, keys.sets().get(missing.provider()), outcome -> onKeys(outcome, remote));
        }
    }

    private void onKeys(RenewalOutcome outcome, RemoteKeys remote) {
        switch (outcome) {
            case CHANGED -> {
                keys = tokens.keys();
                Verdict refused = asked == null ? null : queue();
                if (refused != null) {
                    resume(refused);
                }
            }
            case SAME -> finish(JwtTokens.NO_KEY);
            case FAILED -> resume(noKeys(remote));
            case TOO_MANY -> resume(CROWDED);
        }
    }

    /** The server fails, so nobody knows whether the token is good. */
    private static Verdict noKeys(RemoteKeys remote) {
        String missing = remote.get().isEmpty() ? "no keys" : "the token names an unknown key, and no newer keys come";
        String problem = remote.status().problem();
        return new Verdict.Refuse(Failure.of(
                Cause.AUTHZ_ERROR,
                "JWT: " + missing + " from " + remote.location().url() + ": " + problem));
    }

    private void finish(JwtResult result) {
        if (result instanceof JwtResult.Invalid) {
            tokens.work().failed(client);
        }
        onLoop(request -> request.answer.apply(result));
    }

    private void resume(Verdict verdict) {
        onLoop(request -> verdict);
    }

    @Override
    public void evicted() {
        resume(EVICTED);
    }

    private void onLoop(Function<Asked, Verdict> verdict) {
        Asked now = asked;
        if (now == null) {
            return;
        }
        try {
            now.context.loop().execute(() -> {
                Asked still = asked;
                if (still != null) {
                    still.context.release(still.held());
                    still.context.resume(verdict.apply(still));
                }
            });
        } catch (RejectedExecutionException e) {
            // The loop is being shut down, and the exchange with it.
        }
    }
}
