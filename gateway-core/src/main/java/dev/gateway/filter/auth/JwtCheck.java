package dev.gateway.filter.auth;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.Failure;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;

/**
 * One request's token on its way to a verdict: from the exchange's event loop to {@link SignatureWork} and back. Nothing is
 * answered once it is cancelled.
 */
final class JwtCheck implements HashingTask {
    private static final Verdict OVERLOAD =
            new Verdict.Refuse(Failure.of(Cause.OVERLOAD, "too many tokens wait to be verified"));
    private static final Verdict LIMITED = new Verdict.Refuse(
            Failure.of(Cause.RATE_LIMITED, "too many tokens from this client's address wait to be verified"));
    private static final Verdict EVICTED = new Verdict.Refuse(Failure.of(
            Cause.RATE_LIMITED, "too many tokens wait to be verified, and this client has shown wrong ones"));

    private final JwtTokens tokens;
    private final byte[] token;
    private final Digest digest;
    private final JwtTokens.Keys keys;
    private final Function<JwtResult, Verdict> answer;
    private final FilterContext context;
    private final ClientNetwork client;
    private volatile boolean cancelled; // by the event loop; the other thread need not work then

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
        this.token = token;
        this.digest = digest;
        this.keys = keys;
        this.answer = answer;
        this.context = context;
        this.client = context.client().network();
    }

    Verdict begin() {
        return switch (tokens.work().add(client, this)) {
            case WAITS -> new Verdict.Wait(() -> cancelled = true);
            case CLIENT_HAS_TOO_MANY -> LIMITED;
            case TOO_MANY -> OVERLOAD;
        };
    }

    @Override
    public void run() {
        if (cancelled) {
            return;
        }
        JwtResult result = tokens.verify(token, digest, keys);
        if (result instanceof JwtResult.Invalid) {
            tokens.work().failed(client);
        }
        onLoop(() -> context.resume(answer.apply(result)));
    }

    @Override
    public void evicted() {
        onLoop(() -> context.resume(EVICTED));
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
