package dev.gateway.filter.rewrite;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.message.AsciiBuilder;
import dev.gateway.message.RequestHead;
import dev.gateway.message.path.PathNormalizer;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the path of a request, as the Gateway API's HTTPPathModifier says; the query is kept. Immutable.
 *
 * <p>A prefix is replaced by whole path elements and without regard to a slash at its end: with prefix {@code /foo} or
 * {@code /foo/} and replacement {@code /xyz} or {@code /xyz/}, {@code /foo/bar} becomes {@code /xyz/bar}; {@code /foo}
 * becomes the replacement as written, {@code /foo/} the replacement with one slash at its end. A path never becomes
 * empty.
 */
public final class PathRewrite {
    private final AsciiString replacement;
    private final boolean full;
    private final int baseLength; // of the replacement without a slash at its end

    private PathRewrite(String replacement, boolean full) {
        String path = replacement.isEmpty() ? "/" : replacement;
        this.replacement = checked(path);
        this.full = full;
        int length = this.replacement.length();
        this.baseLength = this.replacement.byteAt(length - 1) == '/' ? length - 1 : length;
    }

    /**
     * Makes what is configured; null of null.
     *
     * @throws IllegalArgumentException if the replacement is not a path in normal form
     */
    public static @Nullable PathRewrite of(FilterConfig.@Nullable PathRewrite config) {
        if (config == null) {
            return null;
        }
        return switch (config.type()) {
            case REPLACE_FULL_PATH -> full(config.value());
            case REPLACE_PREFIX_MATCH -> prefix(config.value());
        };
    }

    /**
     * Replaces the whole path.
     *
     * @throws IllegalArgumentException if the replacement is not a path in normal form
     */
    public static PathRewrite full(String replacement) {
        return new PathRewrite(replacement, true);
    }

    /**
     * Replaces what the route's PathPrefix match covered.
     *
     * @throws IllegalArgumentException if the replacement is not a path in normal form
     */
    public static PathRewrite prefix(String replacement) {
        return new PathRewrite(replacement, false);
    }

    private static AsciiString checked(String path) {
        boolean ascii = path.chars().allMatch(c -> c < 128);
        AsciiString bytes = new AsciiString(path);
        @Nullable AsciiString normal = ascii ? PathNormalizer.normalize(bytes) : null;
        if (normal == null || !path.startsWith("/") || path.indexOf('?') >= 0) {
            throw new IllegalArgumentException("not a path: \"" + path + "\"");
        }
        return normal;
    }

    /**
     * Returns the new path and query.
     *
     * @param prefixLength how much of the path the route's match covered
     */
    public AsciiString apply(RequestHead head, int prefixLength) {
        AsciiString path = head.path();
        int queryStart = head.queryStart();
        if (queryStart == 0 || path.byteAt(0) != '/') {
            return path; // no path to speak of: OPTIONS *, CONNECT
        }
        AsciiBuilder result = new AsciiBuilder(replacement.length() + path.length() + 1);
        int rest = full ? queryStart : Math.min(prefixLength, queryStart);
        if (rest == queryStart) {
            result.add(replacement);
        } else {
            result.add(replacement, 0, baseLength);
            if (path.byteAt(rest) != '/') {
                result.add('/');
            }
        }
        return result.add(path, rest, path.length()).build();
    }
}
