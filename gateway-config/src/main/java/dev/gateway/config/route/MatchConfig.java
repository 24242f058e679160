package dev.gateway.config.route;

import dev.gateway.config.value.Position;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Route match (HTTPRouteMatch). One alternative of a rule: all that is said here must be so.
 *
 * @param path {@code PathPrefix /} if none was written
 * @param method null for all
 */
public record MatchConfig(
        Position position,
        PathMatch path,
        @Nullable String method,
        List<ValueMatch> headers,
        List<ValueMatch> queryParams) {
    /** Matches every request. */
    public static final MatchConfig ANY = path(PathType.PATH_PREFIX, "/");

    public MatchConfig {
        headers = List.copyOf(headers);
        queryParams = List.copyOf(queryParams);
    }

    /** Makes a match of the path only, that stands in no file. */
    public static MatchConfig path(PathType type, String value) {
        PathMatch path = new PathMatch(Position.NOWHERE, type, value, false);
        return new MatchConfig(Position.NOWHERE, path, null, List.of(), List.of());
    }

    /**
     * A condition on the path, without the query.
     *
     * @param value begins with a slash, unless it is a regular expression (RE2 syntax, matched against the whole path)
     * @param secret whether the value must not be shown
     */
    public record PathMatch(Position position, PathType type, String value, boolean secret) {}

    /** How paths are compared. */
    public enum PathType {
        EXACT,
        /** By whole path elements: {@code /foo} matches {@code /foo/bar} and not {@code /foobar}. */
        PATH_PREFIX,
        REGULAR_EXPRESSION
    }

    /**
     * A condition on a header (its name is compared without regard to case) or on a query parameter.
     *
     * @param value if it is a regular expression, in RE2 syntax, matched against the whole value
     * @param secret whether the value must not be shown
     */
    public record ValueMatch(Position position, ValueType type, String name, String value, boolean secret) {
        /** Whether the value is a regular expression. */
        public boolean isRegex() {
            return type == ValueType.REGULAR_EXPRESSION;
        }

        /** Leaves a secret value out. */
        @Override
        public String toString() {
            return name + " " + type + " " + (secret ? "***" : value);
        }
    }

    /** How values are compared. */
    public enum ValueType {
        EXACT,
        REGULAR_EXPRESSION
    }
}
