package dev.gateway.config.yaml.schema.route;

import static java.util.Map.entry;

import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.PathMatch;
import dev.gateway.config.route.MatchConfig.PathType;
import dev.gateway.config.route.MatchConfig.ValueMatch;
import dev.gateway.config.route.MatchConfig.ValueType;
import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Secrets;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a match is, key by key. */
final class MatchSchema {
    private static final String EXPRESSION = "RegularExpression";
    private static final Map<String, String> FOREIGN = Map.of("regex", EXPRESSION, "regexp", EXPRESSION);

    private static final ScalarType<PathType> PATH_TYPE = Types.words(
            Types.ordered(
                    entry("PathPrefix", PathType.PATH_PREFIX),
                    entry("Exact", PathType.EXACT),
                    entry(EXPRESSION, PathType.REGULAR_EXPRESSION)),
            Map.of(),
            FOREIGN);

    private static final ScalarType<ValueType> VALUE_TYPE = Types.words(
            Types.ordered(entry("Exact", ValueType.EXACT), entry(EXPRESSION, ValueType.REGULAR_EXPRESSION)),
            Map.of(),
            FOREIGN);

    private static final ScalarType<String> METHOD = Types.METHOD.alone("write one match for each");

    private static final ObjectType<PathMatch> PATH =
            ObjectType.of("path match", "A condition on the path, without the query.", o -> {
                var type = o.defaulted(
                        "type",
                        PATH_TYPE,
                        PathType.PATH_PREFIX,
                        PathMatch::type,
                        "How the path is compared. PathPrefix compares whole path elements: /foo matches "
                                + "/foo/bar, not /foobar.");
                var value = o.required(
                        "value",
                        Types.TEXT,
                        PathMatch::value,
                        "A path that begins with '/', or a regular expression in RE2 syntax for the whole path. Both "
                                + "have escapes for non-ASCII characters.");
                o.foreign("prefix pathPrefix", "write type: PathPrefix, value: …"); // Envoy
                o.foreign("exact path", "write type: Exact, value: …"); // Envoy
                o.foreign("regex safeRegex", "write type: RegularExpression, value: …"); // Envoy
                o.foreign("ignoreCase caseSensitive", "write type: RegularExpression, value: '(?i)…'"); // Envoy
                return v -> {
                    String text = v.get(value);
                    boolean secret = v.isFromEnvironment("value");
                    String problem = v.has("value") ? pathProblem(v.get(type), text, secret) : null;
                    boolean isExpression = problem == null && v.get(type) == PathType.REGULAR_EXPRESSION;
                    PathExpressions.Problem form = isExpression ? PathExpressions.worst(text, secret) : null;
                    String search = isExpression && !secret ? SearchExpressions.problemOfPath(text) : null;
                    if (problem != null) {
                        v.error(v.at("value"), "value: " + problem);
                    } else if (form != null && form.isError()) {
                        v.error(v.at("value"), "value: " + form.text());
                    } else if (form != null) {
                        v.warning(v.at("value"), "value: " + form.text());
                    } else if (search != null) {
                        v.warning(v.at("value"), "value: " + search);
                    } else if (v.get(type) != PathType.REGULAR_EXPRESSION && isWritten(v) && text.indexOf('*') >= 0) {
                        v.warning(
                                v.at("value"),
                                "value: '*' stands for itself: "
                                        + (text.endsWith("/*") && v.get(type) == PathType.PATH_PREFIX
                                                ? "a PathPrefix without it matches all paths below"
                                                : "write type: RegularExpression for a pattern"));
                    }
                    return new PathMatch(v.position(), v.get(type), problem == null ? text : "/", secret);
                };
            });

    private static final ObjectType<ValueMatch> HEADER =
            valueMatch("header match", "A condition on a header.", Types.HEADER_NAME);

    private static final ObjectType<ValueMatch> QUERY_PARAM =
            valueMatch("query parameter match", "A condition on a query parameter.", Types.text("[\\s\\S]+", "a name"));

    /** A match. */
    static final ObjectType<MatchConfig> MATCH =
            ObjectType.of("match", "Conditions on a request, all of which must hold.", o -> {
                var path = o.optional(
                        "path", PATH, MatchConfig::path, "Condition on the path. Without it every path matches.");
                var method = o.optional("method", METHOD, MatchConfig::method, "Request method.");
                var headers = o.defaulted(
                        "headers",
                        new ListType<>(HEADER, 0),
                        List.of(),
                        MatchConfig::headers,
                        "Conditions on header fields, all of which must hold.");
                var query = o.defaulted(
                        "queryParams",
                        new ListType<>(QUERY_PARAM, 0),
                        List.of(),
                        MatchConfig::queryParams,
                        "Conditions on query parameters, all of which must hold.");
                o.single("path");
                o.foreign("methods", "write method, and one match for each");
                o.foreign("cookies cookie", "write headers: [{name: Cookie, type: RegularExpression, value: …}]");
                o.foreign("host hosts hostname hostnames", "write hostnames into the route");
                o.foreign("prefix pathPrefix", "path");
                o.foreign("query", "queryParams");
                FilterTypes.hint(FilterHint.Place.MATCH, o);
                o.foreign("scheme", "write parentRefs of an HTTP or HTTPS listener into the route");
                return v -> {
                    PathMatch written = v.find(path);
                    PathMatch compared =
                            written == null ? new PathMatch(v.position(), PathType.PATH_PREFIX, "/", false) : written;
                    return new MatchConfig(v.position(), compared, v.find(method), v.get(headers), v.get(query));
                };
            });

    private MatchSchema() {}

    private static ObjectType<ValueMatch> valueMatch(String name, String description, ScalarType<String> names) {
        return ObjectType.of(name, description, o -> {
            var type = o.defaulted("type", VALUE_TYPE, ValueType.EXACT, ValueMatch::type, "How the value is compared.");
            var key = o.required("name", names, ValueMatch::name, "Name of the field or parameter.");
            var value = o.required(
                    "value",
                    Types.TEXT,
                    match -> match.secret() ? Secrets.MASK : match.value(),
                    "The whole value, or a regular expression in RE2 syntax for the whole value.");
            o.pair("name", "value");
            return v -> {
                boolean expression = v.get(type) == ValueType.REGULAR_EXPRESSION;
                boolean secret = Secrets.isSecret(v.get(key), v.written("value"));
                String problem = expression ? Types.regexProblem(v.get(value)) : null;
                String search = expression && problem == null && !secret
                        ? SearchExpressions.problemOfValue(v.get(value))
                        : null;
                if (problem != null) {
                    v.error(v.at("value"), "value: " + problem);
                } else if (search != null) {
                    v.warning(v.at("value"), "value: " + search);
                }
                return new ValueMatch(v.position(), v.get(type), v.get(key), v.get(value), secret);
            };
        });
    }

    /** Whether the type is as it was written, or meant by writing none. */
    private static boolean isWritten(Values v) {
        return !v.has("type") || v.isReadable("type", PATH_TYPE);
    }

    private static @Nullable String pathProblem(PathType type, String value, boolean secret) {
        if (type == PathType.REGULAR_EXPRESSION) {
            return Types.regexProblem(value);
        }
        if (!secret && value.matches("(\\^|~\\*|~ ).*")) {
            return "a path begins with '/', not " + MessageText.quote(value) + ": write "
                    + SearchExpressions.ofLocation(value);
        }
        if (!value.startsWith("/")) {
            return "a path begins with '/'"
                    + (secret ? "" : ", not " + MessageText.quote(value) + ": write " + MessageText.quote("/" + value));
        }
        if (value.indexOf('?') >= 0 || value.indexOf('#') >= 0) {
            return "a path has no '?' or '#': match the query with queryParams";
        }
        if (value.matches(".*//.*|.*/\\.\\.?(/.*)?")) {
            return "never matches: the gateway matches requests after '//', '/./' and '/../' are resolved";
        }
        return value.chars().anyMatch(c -> c <= ' ' || c >= 0x7f)
                ? "a path has no spaces, control or non-ASCII characters: percent-encode them"
                : null;
    }
}
