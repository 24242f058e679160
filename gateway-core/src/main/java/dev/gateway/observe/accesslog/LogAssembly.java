package dev.gateway.observe.accesslog;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.message.FieldName;
import dev.gateway.observe.LogPolicy;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What the configuration says of lines, and of what they hide. */
public final class LogAssembly {
    private LogAssembly() {}

    /** Returns what neither logs nor traces show: what the configuration lists, and where filters find credentials. */
    public static Redaction.Hidden hidden(GatewayConfig config) {
        AccessLogConfig.Redact listed = config.accessLog().redact();
        Set<String> queryKeys = new HashSet<>(listed.queryKeys());
        Set<FieldName> headers =
                listed.headers().stream().map(FieldName::of).collect(Collectors.toCollection(HashSet::new));
        config.routes().stream()
                .flatMap(route -> route.rules().stream())
                .flatMap(rule -> rule.filters().stream())
                .map(FilterConfig::credentials)
                .filter(Objects::nonNull)
                .forEach(shown -> {
                    switch (shown.place()) {
                        case QUERY_PARAMETER -> queryKeys.add(shown.name());
                        case HEADER -> headers.add(FieldName.of(shown.name()));
                        case COOKIE -> {} // no log shows cookies
                    }
                });
        return new Redaction.Hidden(Set.copyOf(queryKeys), Set.copyOf(headers));
    }

    /** Returns what a rule says of the log, null if nothing. */
    public static @Nullable LogPolicy policy(AccessLogConfig log, AccessLogConfig.@Nullable Choice rule) {
        return rule == null ? null : policy(rule, log.choice());
    }

    /** Returns what holds for exchanges of which no rule says anything. */
    public static LogPolicy policy(AccessLogConfig log) {
        return policy(log.choice(), log.choice());
    }

    private static LogPolicy policy(AccessLogConfig.Choice choice, AccessLogConfig.Choice otherwise) {
        Double sample = choice.sample() != null ? choice.sample() : otherwise.sample();
        AccessLogConfig.Exchanges exchanges = choice.exchanges() != null ? choice.exchanges() : otherwise.exchanges();
        return new LogPolicy(Objects.requireNonNull(exchanges), Objects.requireNonNull(sample));
    }
}
