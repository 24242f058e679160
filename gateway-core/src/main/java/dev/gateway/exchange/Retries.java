package dev.gateway.exchange;

import dev.gateway.message.Method;
import dev.gateway.route.Route;
import dev.gateway.route.Route.Retry.After;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a failed attempt of one exchange is made again.
 *
 * <ul>
 *   <li>Only before any of the response was forwarded, and while all that was sent of a body is kept.
 *   <li>Without asking the policy, up to three times, if the peer provably did not act on it, whatever the method; so that
 *       several connections may go away under it.
 *   <li>Without asking the policy, at other endpoints, if one could not be reached; once if no connection came free in time.
 *   <li>Without asking the policy, as often, if a kept connection turned out to be closed and the method is idempotent: its
 *       pool has dropped those that are as old.
 *   <li>Further, for methods of the route's policy and for what was never acted on, as often as the policy says and the
 *       upstream's budget allows, after failures and after responses with one of its statuses. An endpoint that had failed
 *       already when the attempt began, and one that answers nobody while others answer, do not count: that is not the
 *       request's doing.
 * </ul>
 *
 * When nothing is left, the last failure is the exchange's, unless it was the budget that forbade another attempt. A
 * response with one of the statuses is then forwarded as it is, and the exchange's cause is {@link #refusal}. Nobody waits
 * for an attempt that the exchange has no time for.
 */
final class Retries {
    /** No further attempt. */
    static final long NONE = -1;

    /** An endpoint that wants to be left alone for longer gets no further attempt. */
    static final long MAX_RETRY_AFTER_MILLIS = 10_000;

    private static final int MAX_DOUBLINGS = 5;
    private static final int MAX_FREE = 3;
    private static final int MAX_OTHERS = 8;

    private final Method method;
    private final Route.Retry policy;
    private final Owner owner;
    private int free = MAX_FREE; // attempts left for which the policy is not asked
    private int others; // endpoints left to be tried after one that is to blame, not the request
    private int used;
    private @Nullable Cause refusal;

    /** Whose attempts they are. */
    interface Owner {
        /** Takes one retry of the upstream's budget; returns false if there is none left. */
        boolean tryTakeRetry(Route.Retry.Budget budget);

        /** Returns how many milliseconds are left for the whole exchange. */
        long leftMillis();

        /** Returns a random number from 0 to this one. */
        long random(long most);
    }

    /**
     * The attempt that has failed.
     *
     * @param sent whether it had a stream, so that the failure is not about reaching the endpoint
     * @param elsewhere whether the next would go to another endpoint
     * @param wasFailing whether the endpoint had failed already when it began
     */
    record Tried(boolean sent, boolean elsewhere, boolean wasFailing) {}

    /** Makes the decisions about a request to an upstream with so many endpoints. */
    Retries(Method method, Route.Retry policy, int endpoints, Owner owner) {
        this.method = method;
        this.policy = policy;
        this.others = Math.max(1, Math.min(endpoints - 1, MAX_OTHERS));
        this.owner = owner;
    }

    /** Returns milliseconds to wait before the next attempt after a failure, or {@link #NONE}. */
    long afterFailure(Failure failure, Tried tried) {
        refusal = null;
        if (!isSafe(failure)) {
            return NONE;
        }
        if (isFree(failure, tried)) {
            return 0;
        }
        After after = kind(failure, tried.sent);
        if (!policy.when().failures().contains(after)) {
            return NONE;
        }
        return after == After.RESET && tried.wasFailing && tried.elsewhere && tryOther() ? 0 : byPolicy(0);
    }

    private boolean isSafe(Failure failure) {
        return switch (failure.retry()) {
            case ALWAYS -> true;
            case IF_IDEMPOTENT -> isListed() || (failure.stale() && method.isIdempotent());
            case NEVER -> false;
        };
    }

    private boolean isListed() {
        return policy.attempts() > 0 && policy.when().methods().contains(method);
    }

    private static After kind(Failure failure, boolean sent) {
        return !sent
                ? After.CONNECT_FAILURE
                : failure.retry() == RetrySafety.ALWAYS ? After.REFUSED_STREAM : After.RESET;
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
     * Decides whether an endpoint is left that has answered nobody for the time of the policy; another has not been tried.
     *
     * @param othersAnswer whether others have answered meanwhile: else the request may be slow wherever it goes
     * @return milliseconds to wait before the next attempt, or {@link #NONE}
     */
    long afterSilence(boolean othersAnswer) {
        if (!isListed() || !policy.when().failures().contains(After.RESET)) {
            return NONE;
        }
        return othersAnswer && tryOther() ? 0 : byPolicy(0);
    }

    private boolean tryOther() {
        if (policy.attempts() == 0 || others <= 0 || !owner.tryTakeRetry(policy.budget())) {
            return false;
        }
        others--;
        return true;
    }

    /** Whether the policy takes this status for a failure of an attempt that may be made again. */
    boolean isFailure(int status) {
        return isListed() && policy.when().statuses().contains(status);
    }

    /**
     * Decides after such a status.
     *
     * @param leastMillis how long the endpoint asks to wait
     * @return milliseconds to wait before the next attempt, or {@link #NONE}
     */
    long afterStatus(long leastMillis) {
        return byPolicy(policy.waiting().retryAfter() ? leastMillis : 0);
    }

    private long byPolicy(long leastMillis) {
        refusal = null;
        if (used == policy.attempts()) {
            refusal = Cause.RETRY_LIMIT;
            return NONE;
        }
        long most = policy.waiting().backoffMillis() << Math.min(used, MAX_DOUBLINGS);
        long delay = Math.max(leastMillis, owner.random(most));
        if (leastMillis > MAX_RETRY_AFTER_MILLIS || delay >= owner.leftMillis()) {
            return NONE;
        }
        if (!owner.tryTakeRetry(policy.budget())) {
            refusal = Cause.RETRY_BUDGET;
            return NONE;
        }
        used++;
        return delay;
    }

    /** Returns why there was no further attempt when the policy was asked last; null if for want of time. */
    @Nullable
    Cause refusal() {
        return refusal;
    }
}
