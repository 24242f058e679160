package dev.gateway.exchange.route;

import dev.gateway.message.FieldName;
import dev.gateway.message.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Route match. What a request must look like, all of it: one item of a rule's {@code matches}. As configured; {@link
 * RouterBuilder} compiles it.
 *
 * @param method null for any
 */
public record RouteMatch(Path path, @Nullable Method method, List<Header> headers, List<Query> queryParams) {
    /** Matches every request: what a rule without matches has. */
    public static final RouteMatch ANY = path(PathType.PREFIX, "/");

    /** Makes a match. */
    public RouteMatch {
        headers = List.copyOf(headers);
        queryParams = List.copyOf(queryParams);
    }

    /** Makes a match of the path only. */
    public static RouteMatch path(PathType type, String value) {
        return new RouteMatch(new Path(type, value), null, List.of(), List.of());
    }

    /** How a path is compared. */
    public enum PathType {
        /** The whole path, byte by byte. */
        EXACT,
        /** By whole elements: {@code /foo} and {@code /foo/} match {@code /foo} and {@code /foo/bar}, not {@code /foobar}. */
        PREFIX,
        /** The whole path by a regular expression of RE2. */
        REGEX
    }

    /** The path, which is compared without the query, in the form that PathNormalizer gives it. */
    public record Path(PathType type, String value) {}

    /**
     * A header field: present, and one of its lines has this value. {@code Host} is the request's authority.
     *
     * @param regex whether the value is a regular expression of RE2 that the whole value must match
     */
    public record Header(FieldName name, String value, boolean regex) {}

    /**
     * A query parameter; if the request repeats it, its first value counts. Name and value are compared decoded.
     *
     * @param regex whether the value is a regular expression of RE2 that the whole value must match
     */
    public record Query(String name, String value, boolean regex) {}
}
