package dev.gateway.exchange.route.assembly;

import dev.gateway.config.route.HedgeConfig;
import dev.gateway.exchange.route.AnswerTimes;
import dev.gateway.exchange.route.HedgeDelay;
import dev.gateway.exchange.route.Route.Hedging;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterStates;
import dev.gateway.format.Durations;
import dev.gateway.message.Method;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes the hedging policies of rules from their configuration. */
final class HedgeAssembly {
    private HedgeAssembly() {}

    /** The key of the answer times of a rule. */
    private record Key(String rule) {}

    /**
     * Returns the policy of a rule, null if the rule does not hedge.
     *
     * @param rule its name in logs and metrics; answer times of a rule of the same name outlive a reload
     */
    static @Nullable Hedging policy(@Nullable HedgeConfig config, String rule, FilterStates.Prepared states)
            throws StartException {
        return config == null
                ? null
                : new Hedging(
                        delay(config, rule, states),
                        config.budget(),
                        config.methods().stream().map(Method::of).collect(Collectors.toUnmodifiableSet()));
    }

    private static HedgeDelay delay(HedgeConfig config, String rule, FilterStates.Prepared states)
            throws StartException {
        HedgeConfig.After after = config.after();
        return after.isPercentile()
                ? HedgeDelay.percentile(
                        after.perMille(),
                        Durations.millis(config.atLeast()),
                        states.get(new Key(rule), AnswerTimes.class, AnswerTimes::new))
                : HedgeDelay.fixed(Durations.millis(after.fixed()));
    }
}
