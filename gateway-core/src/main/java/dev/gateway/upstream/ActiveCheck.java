package dev.gateway.upstream;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Active health check settings: how endpoints are asked whether they are well.
 *
 * @param path what is asked for, with GET
 * @param host that the request names, null for the endpoint's own
 * @param intervalMillis from an answer to the next question; jittered
 * @param timeoutMillis how long an answer may take, connecting included
 * @param healthyThreshold how many good answers in a row end a bad time
 * @param unhealthyThreshold how many bad ones end a good time
 * @param expected which statuses are good
 */
public record ActiveCheck(
        String path,
        @Nullable String host,
        long intervalMillis,
        long timeoutMillis,
        int healthyThreshold,
        int unhealthyThreshold,
        List<Statuses> expected) {
    public ActiveCheck {
        expected = List.copyOf(expected);
    }

    /** Statuses from first to last. */
    public record Statuses(int first, int last) {}

    /** Whether an answer with this status is a good one. */
    public boolean expects(int status) {
        return expected.stream().anyMatch(each -> status >= each.first && status <= each.last);
    }
}
