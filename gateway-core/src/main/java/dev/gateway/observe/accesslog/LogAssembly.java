package dev.gateway.observe.accesslog;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.config.observe.AccessLogTemplate;
import dev.gateway.message.FieldName;
import dev.gateway.observe.LogPolicy;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
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
        return new AccessLogSettings(format(log.lines()), policy(log.choice(), log.choice()), redacted(config));
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

    private static AccessLogSettings.@Nullable Format format(AccessLogConfig.Lines lines) {
        return switch (lines.format()) {
            case OFF -> null;
            case JSON -> new AccessLogSettings.Json(names(lines.requestHeaders()), names(lines.responseHeaders()));
            case COMBINED -> new AccessLogSettings.Combined();
            case TEMPLATE ->
                new AccessLogSettings.Template(Objects.requireNonNull(lines.template()).parts().stream()
                        .map(LogAssembly::part)
                        .toList());
        };
    }

    private static List<FieldName> names(List<String> headers) {
        return headers.stream().map(FieldName::of).toList();
    }

    private static AccessLogSettings.Part part(AccessLogTemplate.Part part) {
        if (part instanceof AccessLogTemplate.Literal literal) {
            return new AccessLogSettings.Literal(literal.text());
        }
        AccessLogTemplate.Field field = (AccessLogTemplate.Field) part;
        return switch (field.name()) {
            case AccessLogTemplate.REQUEST_HEADER -> new AccessLogSettings.Header(true, FieldName.of(field.argument()));
            case AccessLogTemplate.RESPONSE_HEADER ->
                new AccessLogSettings.Header(false, FieldName.of(field.argument()));
            default -> new AccessLogSettings.Field(field.name());
        };
    }

    /**
     * Returns where lines go.
     *
     * @param out the process's standard output
     */
    public static LogTarget target(AccessLogConfig config, OutputStream out) {
        AccessLogConfig.Syslog syslog = config.target().syslog();
        if (syslog != null) {
            boolean tcp = syslog.transport() == AccessLogConfig.Syslog.Transport.TCP;
            return new LogTarget.Syslog(
                    new SyslogReceiver(syslog.host(), syslog.port(), tcp), syslog.facility(), syslog.appName());
        }
        Path file = config.target().file();
        if (file == null) {
            return new LogTarget.StandardOutput(out);
        }
        AccessLogConfig.Rotation rotation = config.target().rotation();
        return new LogTarget.File(
                file,
                rotation == null
                        ? LogRotation.NONE
                        : new LogRotation(
                                rotation.maxSize(),
                                rotation.maxFiles(),
                                rotation.maxAge().toNanos()));
    }

    /** Returns what a rule says of the log, null if nothing. */
    public static @Nullable LogPolicy policy(AccessLogConfig log, AccessLogConfig.@Nullable Choice rule) {
        return rule == null ? null : policy(rule, log.choice());
    }

    private static LogPolicy policy(AccessLogConfig.Choice choice, AccessLogConfig.Choice otherwise) {
        Double sample = choice.sample() != null ? choice.sample() : otherwise.sample();
        AccessLogConfig.Exchanges exchanges = choice.exchanges() != null ? choice.exchanges() : otherwise.exchanges();
        return new LogPolicy(
                switch (Objects.requireNonNull(exchanges)) {
                    case ALL -> LogPolicy.Exchanges.ALL;
                    case FAILED -> LogPolicy.Exchanges.FAILED;
                    case NONE -> LogPolicy.Exchanges.NONE;
                },
                Objects.requireNonNull(sample));
    }
}
