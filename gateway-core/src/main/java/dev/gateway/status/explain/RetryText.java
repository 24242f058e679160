package dev.gateway.status.explain;

import dev.gateway.config.route.HedgeConfig;
import dev.gateway.config.route.RetryConfig;
import dev.gateway.format.Durations;
import java.util.ArrayList;
import java.util.List;

/** Says in a line when requests are sent again, or to a second endpoint. */
final class RetryText {
    private static final String GATEWAY_ERRORS = "502, 503, 504";

    private RetryText() {}

    static String of(RetryConfig retry) {
        String connectWait = retry.waiting().connectWait().isZero()
                ? ""
                : "; waits up to " + Durations.print(retry.waiting().connectWait()) + " if no endpoint can be reached";
        if (retry.attempts() == 0) {
            return "only what no endpoint has processed" + connectWait;
        }
        RetryConfig.When when = retry.when();
        List<String> events = new ArrayList<>();
        for (RetryConfig.On on : when.on()) {
            events.add(
                    switch (on) {
                        case CONNECT_FAILURE -> "connectFailure";
                        case RESET -> "reset";
                        case REFUSED_STREAM -> "refusedStream";
                        case GATEWAY_ERROR -> GATEWAY_ERRORS;
                        case RETRIABLE_STATUS ->
                            String.join(
                                    ", ",
                                    when.codes().stream()
                                            .sorted()
                                            .map(String::valueOf)
                                            .toList());
                    });
        }
        RetryConfig.Budget budget = retry.budget();
        String silent = retry.waiting().silentAfter().isZero()
                ? ""
                : "; at another endpoint after "
                        + Durations.print(retry.waiting().silentAfter()) + " of silence";
        return "up to " + retry.attempts() + " for " + String.join("/", when.methods()) + " after "
                + String.join(", ", events) + silent + connectWait + "; budget " + budget.percent()
                + " % of requests, at least "
                + budget.minRetriesPerSecond() + "/s";
    }

    static String of(HedgeConfig hedge) {
        HedgeConfig.After after = hedge.after();
        String delay = after.isPercentile()
                ? after.percentile() + " of the rule's answers, at least " + Durations.print(hedge.atLeast())
                : Durations.print(after.fixed());
        return "at another endpoint after " + delay + ", for " + String.join("/", hedge.methods())
                + " without a body; budget " + hedge.budget() + " % of requests";
    }
}
