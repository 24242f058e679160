package dev.gateway.exchange.attempt;

import dev.gateway.config.route.RetryConfig;
import dev.gateway.config.route.RetryConfig.On;
import dev.gateway.exchange.route.Route;
import dev.gateway.format.Durations;
import dev.gateway.message.Method;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether another attempt follows a failed attempt of one exchange. It never does after a part of the response was
 * forwarded, or if the sent part of the body is no longer kept.
 *
 * <ul>
 *   <li>Whatever the retry policy says, up to three times, if the endpoint provably did not process the request, for any
 *       method. So several connections may close under a request.
 *   <li>Whatever the policy says, at other endpoints, if an endpoint could not be reached; once if no connection became
 *       free in time. {@code EndpointUse.mayConnectElsewhere} adds those that the request has not tried.
 *   <li>Whatever the policy says, within the same three times, if a kept connection was closed and the method is
 *       idempotent. The pool has dropped other connections that are as old.
 *   <li>Beyond that, as often as the policy says and the upstream's budget allows: after failures, and after responses with
 *       one of the policy's statuses. The method must be one of the policy's, unless the request was not processed. Two
 *       kinds of attempts do not count, because the request did not cause their failure: at an endpoint that had already
 *       failed when the attempt began, and at one that answers no requests while others do, or was found not to answer.
 * </ul>
 *
 * If no attempt follows, the exchange has the last failure, unless the budget is used up. The gateway then forwards a
 * response with one of the statuses unchanged, and the exchange's cause is {@link #refusal}. No attempt follows if the
 * exchange has no time left for it.
 */
public final class Retries {
    /** No further attempt. */
    public static final long NONE = -1;

    /** If an endpoint asks for a longer wait than this, there is no further attempt. */
    static final long MAX_RETRY_AFTER_MILLIS = 10_000;

    private static final int MAX_DOUBLINGS = 5;
    private static final int MAX_FREE = 3;
    private static final int MAX_OTHERS = 8;

    private final Method method;
    private final Route.Retry policy;
    private final Limits limits;
    private int free = MAX_FREE; // attempts left that do not depend on the policy
    private int others; // other endpoints that may still be tried because an endpoint failed, not the request
    private int used;
    private @Nullable Cause refusal;

    /** The limits of further attempts, besides the policy. */
    public interface Limits {
        /** Takes one retry of the upstream's budget; returns false if none is left. */
        boolean tryTakeRetry(RetryConfig.Budget budget);

        /** Returns how many milliseconds are left for the whole exchange. */
        long leftMillis();

        /** Returns a random number from 0 to this one. */
        long random(long most);
    }

    /**
     * The attempt that has failed.
     *
     * @param sent whether it had a stream: then the endpoint could be reached
     * @param elsewhere whether the next attempt would go to another endpoint
     * @param wasFailing whether the endpoint had already failed when the attempt began
     */
    public record Tried(boolean sent, boolean elsewhere, boolean wasFailing) {}

    /** Decides for a request to an upstream with this number of endpoints. */
    public Retries(Method method, Route.Retry policy, int endpoints, Limits limits) {
        this.method = method;
        this.policy = policy;
        this.others = Math.max(1, Math.min(endpoints - 1, MAX_OTHERS));
        this.limits = limits;
    }

    /** Returns milliseconds to wait before the next attempt after a failure, or {@link #NONE}. */
    public long afterFailure(Failure failure, Tried tried) {
        refusal = null;
        if (!isSafe(failure)) {
            return NONE;
        }
        if (isFree(failure, tried)) {
            return 0;
        }
        On after = kind(failure, tried.sent);
        if (!policy.config().when().on().contains(after)) {
            return NONE;
        }
        return after == On.RESET && tried.wasFailing && tried.elsewhere && tryOther() ? 0 : byPolicy(0);
    }

    /** The request goes to another endpoint that it has not tried, because no connection could be made. */
    public void takeOther() {
        others = Math.max(0, others - 1);
    }

    private boolean isSafe(Failure failure) {
        return switch (failure.retry()) {
            case ALWAYS -> true;
            case IF_IDEMPOTENT -> isListed() || (failure.stale() && method.isIdempotent());
            case NEVER -> false;
        };
    }

    private boolean isListed() {
        return policy.config().attempts() > 0 && policy.methods().contains(method);
    }

    private static On kind(Failure failure, boolean sent) {
        return !sent ? On.CONNECT_FAILURE : failure.retry() == RetrySafety.ALWAYS ? On.REFUSED_STREAM : On.RESET;
    }

    private boolean isFree(Failure failure, Tried tried) {
        boolean unprocessed = failure.retry() == RetrySafety.ALWAYS;
        if (failure.stale() || (unprocessed && tried.sent)) {
            return free-- > 0;
        }
        if (!unprocessed || !tried.elsewhere || others <= 0) {
            return false;
        }
        boolean waited = failure.cause() == Cause.PENDING_TIMEOUT || failure.cause() == Cause.PENDING_OVERFLOW;
        others = waited ? 0 : others - 1;
        return true;
    }

    /**
     * Decides whether to leave an endpoint that has answered no requests for the time of the policy. There is another one
     * that was not tried.
     *
     * @param othersAnswer whether other endpoints have answered meanwhile; if not, the request may be slow everywhere
     * @return milliseconds to wait before the next attempt, or {@link #NONE}
     */
    public long afterSilence(boolean othersAnswer) {
        if (!leavesSilent()) {
            return NONE;
        }
        return othersAnswer && tryOther() ? 0 : byPolicy(0);
    }

    /**
     * Decides whether to leave an endpoint that was found not to answer for another one in service, or for another connection.
     *
     * @return milliseconds to wait before the next attempt, or {@link #NONE}
     */
    public long whenUnresponsive() {
        return leavesSilent() && tryOther() ? 0 : NONE;
    }

    /** Whether the policy leaves an endpoint that answers no requests. */
    public boolean leavesSilent() {
        return isListed() && policy.config().when().on().contains(On.RESET);
    }

    private boolean tryOther() {
        if (policy.config().attempts() == 0
                || others <= 0
                || !limits.tryTakeRetry(policy.config().budget())) {
            return false;
        }
        others--;
        return true;
    }

    /** Whether this status is a failure after which the policy allows another attempt. */
    public boolean isFailure(int status) {
        return isListed() && policy.config().when().takes(status);
    }

    /**
     * Decides after such a status.
     *
     * @param leastMillis the minimum wait, as Retry-After says
     * @return milliseconds to wait before the next attempt, or {@link #NONE}
     */
    public long afterStatus(long leastMillis) {
        return byPolicy(policy.config().waiting().retryAfter() ? leastMillis : 0);
    }

    private long byPolicy(long leastMillis) {
        refusal = null;
        if (used == policy.config().attempts()) {
            refusal = Cause.RETRY_LIMIT;
            return NONE;
        }
        long most = Durations.millis(policy.config().waiting().backoff()) << Math.min(used, MAX_DOUBLINGS);
        long delay = Math.max(leastMillis, limits.random(most));
        if (leastMillis > MAX_RETRY_AFTER_MILLIS || delay >= limits.leftMillis()) {
            return NONE;
        }
        if (!limits.tryTakeRetry(policy.config().budget())) {
            refusal = Cause.RETRY_BUDGET;
            return NONE;
        }
        used++;
        return delay;
    }

    /** Returns why the policy allowed no further attempt; null if there was no time for it. */
    public @Nullable Cause refusal() {
        return refusal;
    }
}
