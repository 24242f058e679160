package dev.gateway.exchange;

import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.route.Route;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;

/**
 * Decides whether a failed attempt of one exchange is made again.
 *
 * <ul>
 *   <li>Only before any of the response was forwarded, and before any byte of a body was sent: none is kept.
 *   <li>Once without asking the policy if the peer provably did not act on it, or if a kept connection turned out to be
 *       closed and the method is idempotent. An endpoint that could not be reached is not tried again, another is. For
 *       a tunnel, of which nothing is sent before its connection is there, up to three others are.
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
    private static final int MAX_OTHERS = 3;

    private final Method method;
    private final Route.Retry policy;
    private int free; // attempts left for which the policy is not asked
    private int used;

    private Retries(Method method, Route.Retry policy, int free) {
        this.method = method;
        this.policy = policy;
        this.free = free;
    }

    /** Makes the decisions about a request to an upstream with so many endpoints. */
    static Retries of(RequestHead head, Route.Retry policy, int endpoints) {
        int free = Admission.isTunnel(head) ? Math.max(1, Math.min(endpoints - 1, MAX_OTHERS)) : 1;
        return new Retries(head.routedMethod(), policy, free);
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
        boolean unprocessed = failure.retry() == RetrySafety.ALWAYS;
        if (free > 0 && (failure.stale() || (unprocessed && (sent || elsewhere)))) {
            free--;
            return 0;
        }
        return byPolicy();
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
