package dev.gateway.observe.accesslog;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.message.FieldName;
import dev.gateway.observe.LogPolicy;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Access log factory: turns the configured access log into what runs. */
public final class LogAssembly {
    private LogAssembly() {}

    /** Returns how lines of the access log are written. */
    public static AccessLogSettings settings(GatewayConfig config) {
        AccessLogConfig log = config.accessLog();
        return new AccessLogSettings(log.lines(), policy(log.choice(), log.choice()), redacted(config));
    }

    /** Returns what neither logs nor traces show: what the configuration lists, and where filters find credentials. */
    public static AccessLogSettings.Redacted redacted(GatewayConfig config) {
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
        return new AccessLogSettings.Redacted(Set.copyOf(queryKeys), Set.copyOf(headers));
    }

    /**
     * Returns where lines go.
     *
     * @param out the process's standard output
     */
    public static LogTarget target(AccessLogConfig config, OutputStream out) {
        AccessLogConfig.Syslog syslog = config.target().syslog();
        if (syslog != null) {
            return new LogTarget.Syslog(syslog);
        }
        Path file = config.target().file();
        return file == null
                ? new LogTarget.StandardOutput(out)
                : new LogTarget.File(file, config.target().rotation());
    }

    /** Returns what a rule says of the log, null if nothing. */
    public static @Nullable LogPolicy policy(AccessLogConfig log, AccessLogConfig.@Nullable Choice rule) {
        return rule == null ? null : policy(rule, log.choice());
    }

    private static LogPolicy policy(AccessLogConfig.Choice choice, AccessLogConfig.Choice otherwise) {
        Double sample = choice.sample() != null ? choice.sample() : otherwise.sample();
        AccessLogConfig.Exchanges exchanges = choice.exchanges() != null ? choice.exchanges() : otherwise.exchanges();
        return new LogPolicy(Objects.requireNonNull(exchanges), Objects.requireNonNull(sample));
    }
}
