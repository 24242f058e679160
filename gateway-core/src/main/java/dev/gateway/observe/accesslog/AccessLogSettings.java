package dev.gateway.observe.accesslog;

import dev.gateway.message.FieldName;
import dev.gateway.observe.LogPolicy;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Access log settings at run time: how lines of the access log look, and of what there are any. Immutable.
 *
 * @param format null if there are no lines
 * @param policy of exchanges whose route says nothing
 */
public record AccessLogSettings(@Nullable Format format, LogPolicy policy, Redacted redacted) {
    /** No lines. */
    public static final AccessLogSettings OFF =
            new AccessLogSettings(null, LogPolicy.ALL, new Redacted(Set.of(), Set.of()));

    /** How lines look. */
    public sealed interface Format {}

    /** A JSON object per line, with these headers besides. */
    public record Json(List<FieldName> requestHeaders, List<FieldName> responseHeaders) implements Format {}

    /** As Apache and nginx write it. */
    public record Combined() implements Format {}

    /** Text and values as an operator wants them. */
    public record Template(List<Part> parts) implements Format {}

    /** A piece of a line. */
    public sealed interface Part {}

    /** Text that stands for itself. */
    public record Literal(String text) implements Part {}

    /** The value of a field, by its documented name. */
    public record Field(String name) implements Part {}

    /** The value of a header. */
    public record Header(boolean ofRequest, FieldName name) implements Part {}

    /**
     * What is replaced by asterisks, besides headers that always are.
     *
     * @param queryKeys names of query parameters
     */
    public record Redacted(Set<String> queryKeys, Set<FieldName> headers) {}
}
