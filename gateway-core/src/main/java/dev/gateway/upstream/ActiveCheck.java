package dev.gateway.upstream;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Active health check settings: how the gateway checks endpoints.
 *
 * @param request what the gateway sends
 * @param intervalMillis from an answer to the next check; jittered
 * @param unhealthyIntervalMillis the same while the endpoint is unhealthy
 * @param timeoutMillis how long an answer may take, connecting included
 * @param healthyThreshold how many good answers in a row make an unhealthy endpoint healthy
 * @param unhealthyThreshold how many bad answers in a row make a healthy endpoint unhealthy
 */
public record ActiveCheck(
        Request request,
        long intervalMillis,
        long unhealthyIntervalMillis,
        long timeoutMillis,
        int healthyThreshold,
        int unhealthyThreshold) {

    /** What the gateway sends to check an endpoint. */
    public sealed interface Request permits Http, Grpc, Tcp {}

    /**
     * A GET request.
     *
     * @param path the path of the request
     * @param host the Host header of the request, null for the endpoint's own host
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
     * @param service the service in the call, empty for the whole server
     */
    public record Grpc(String service) implements Request {}

    /** The gateway connects and sends nothing. */
    public record Tcp() implements Request {}

    /** Statuses from first to last. */
    public record Statuses(int first, int last) {}
}
