package dev.gateway.upstream;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Active health check settings: how endpoints are asked whether they are well.
 *
 * @param request what they are asked
 * @param intervalMillis from an answer to the next question; jittered
 * @param unhealthyIntervalMillis the same while the endpoint is unhealthy
 * @param timeoutMillis how long an answer may take, connecting included
 * @param healthyThreshold how many good answers in a row end a bad time
 * @param unhealthyThreshold how many bad ones end a good time
 */
public record ActiveCheck(
        Request request,
        long intervalMillis,
        long unhealthyIntervalMillis,
        long timeoutMillis,
        int healthyThreshold,
        int unhealthyThreshold) {

    /** What an endpoint is asked. */
    public sealed interface Request permits Http, Grpc, Tcp {}

    /**
     * A GET request.
     *
     * @param path what is asked for
     * @param host that the request names, null for the endpoint's own
     * @param expected which statuses are good
     */
    public record Http(String path, @Nullable String host, List<Statuses> expected) implements Request {
        public Http {
            expected = List.copyOf(expected);
        }

        /** Whether an answer with this status is a good one. */
        public boolean expects(int status) {
            return expected.stream().anyMatch(each -> status >= each.first && status <= each.last);
        }
    }

    /**
     * A call of {@code grpc.health.v1.Health/Check}.
     *
     * @param service whose health is asked for, empty for that of the whole server
     */
    public record Grpc(String service) implements Request {}

    /** A connection, and no more than that. */
    public record Tcp() implements Request {}

    /** Statuses from first to last. */
    public record Statuses(int first, int last) {}
}
