package dev.gateway.observe.accesslog;

import dev.gateway.config.observe.AccessLogConfig.Format;
import dev.gateway.config.observe.AccessLogConfig.Lines;
import dev.gateway.message.FieldName;
import dev.gateway.observe.LogPolicy;
import java.util.Set;

/**
 * Access log settings at run time: how lines of the access log look, and of what there are any. Immutable.
 *
 * @param policy of exchanges whose route says nothing
 */
public record AccessLogSettings(Lines lines, LogPolicy policy, Redacted redacted) {
    /** No lines. */
    public static final AccessLogSettings OFF =
            new AccessLogSettings(Lines.of(Format.OFF), LogPolicy.ALL, new Redacted(Set.of(), Set.of()));

    /**
     * What is replaced by asterisks, besides headers that always are.
     *
     * @param queryKeys names of query parameters
     */
    public record Redacted(Set<String> queryKeys, Set<FieldName> headers) {}
}
