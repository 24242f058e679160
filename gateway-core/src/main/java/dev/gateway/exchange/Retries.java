package dev.gateway.exchange;

import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.route.Route;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;

/**
 * Decides whether a failed attempt of one exchange is made again.
 *
 * <ul>
 *   <li>Only before any of the response was forwarded, and while all that was sent of a body is kept.
 *   <li>Without asking the policy, up to three times, if the peer provably did not act on it, whatever the method; so that
 *       several connections may go away under it.
 *   <li>Without asking the policy, at up to three other endpoints, if one could not be reached; once if no connection came
 *       free in time.
 *   <li>Without asking the policy, as often, if a kept connection turned out to be closed and the method is idempotent: its
 *       pool has dropped those that are as old.
 *   <li>Further, for idempotent methods and for what was never acted on, as often as the route's policy says, after
 *       failures and after responses with one of its codes.
 * </ul>
 *
 * When nothing is left, the last failure is the exchange's. A response with one of the codes is then forwarded as it is,
 * and the exchange's cause is {@code retry_limit}.
 */
final class Retries {
    /** No further attempt. */
    static final long NONE = -1;

    private static final int MAX_DOUBLINGS = 5;
    private static final int MAX_FREE = 3;
    private static final int MAX_OTHERS = 3;

    private final Method method;
    private final Route.Retry policy;
    private int free = MAX_FREE; // attempts left for which the policy is not asked
    private int others; // endpoints left to be tried after one that could not be reached
    private int used;

    private Retries(Method method, Route.Retry policy, int endpoints) {
        this.others = Math.max(1, Math.min(endpoints - 1, MAX_OTHERS));
        this.method = method;
        this.policy = policy;
    }

    /** Makes the decisions about a request to an upstream with so many endpoints. */
    static Retries of(RequestHead head, Route.Retry policy, int endpoints) {
        return new Retries(head.routedMethod(), policy, endpoints);
    }

    /**
     * Decides after a failure.
     *
     * @param sent whether the attempt had a stream, so that the failure is not about reaching the endpoint
     * @param elsewhere whether the next attempt would go to another endpoint
     * @return milliseconds to wait before the next attempt, or {@link #NONE}
     */
    long afterFailure(Failure failure, boolean sent, boolean elsewhere) {
        boolean safe =
                switch (failure.retry()) {
                    case ALWAYS -> true;
                    case IF_IDEMPOTENT -> method.isIdempotent();
                    case NEVER -> false;
                };
        if (!safe) {
            return NONE;
        }
        return isFree(failure, sent, elsewhere) ? 0 : byPolicy();
    }

    private boolean isFree(Failure failure, boolean sent, boolean elsewhere) {
        boolean unprocessed = failure.retry() == RetrySafety.ALWAYS;
        if (failure.stale() || (unprocessed && sent)) {
            return free-- > 0;
        }
        if (!unprocessed || !elsewhere || others <= 0) {
            return false;
        }
        boolean waited = failure.cause() == Cause.PENDING_TIMEOUT || failure.cause() == Cause.PENDING_OVERFLOW;
        others = waited ? 0 : others - 1;
        return true;
    }

    /** Whether the policy takes this status for a failure of an attempt that may be made again. */
    boolean isFailure(int status) {
        return policy.attempts() > 0 && method.isIdempotent() && policy.codes().contains(status);
    }

    /** Returns milliseconds to wait before the next attempt after such a status, or {@link #NONE}. */
    long afterStatus() {
        return byPolicy();
    }

    private long byPolicy() {
        if (used == policy.attempts()) {
            return NONE;
        }
        return policy.backoffMillis() << Math.min(used++, MAX_DOUBLINGS);
    }
}
