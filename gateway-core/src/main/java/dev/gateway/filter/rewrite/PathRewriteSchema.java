package dev.gateway.filter.rewrite;

import static java.util.Map.entry;

import dev.gateway.config.filter.FilterConfig.PathRewrite;
import dev.gateway.config.filter.FilterConfig.PathRewriteType;
import dev.gateway.config.yaml.schema.filter.TypeKeys;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import java.util.Map;

/** New paths, key by key. */
public final class PathRewriteSchema {
    private static final ScalarType<PathRewriteType> REWRITE_TYPE = Types.words(
            entry("ReplaceFullPath", PathRewriteType.REPLACE_FULL_PATH),
            entry("ReplacePrefixMatch", PathRewriteType.REPLACE_PREFIX_MATCH));

    private static final ScalarType<String> NEW_PATH =
            Types.text("/[!-~]*", "a path that begins with '/', without spaces or non-ASCII characters");

    /** A new path. */
    public static final ObjectType<PathRewrite> PATH =
            ObjectType.of("path rewrite", "A new path. The query stays.", o -> {
                var type = o.required("type", REWRITE_TYPE, PathRewrite::type, "What is replaced.");
                var full = o.optional(
                        "replaceFullPath",
                        NEW_PATH,
                        path -> path.type() == PathRewriteType.REPLACE_FULL_PATH ? path.value() : null,
                        "New path, with type ReplaceFullPath.");
                var prefix = o.optional(
                        "replacePrefixMatch",
                        NEW_PATH,
                        path -> path.type() == PathRewriteType.REPLACE_PREFIX_MATCH ? path.value() : null,
                        "Replacement for the prefix that the rule matched, with type ReplacePrefixMatch.");
                TypeKeys.choice(
                        o, Map.of("ReplaceFullPath", "replaceFullPath", "ReplacePrefixMatch", "replacePrefixMatch"));
                o.single(text -> text.startsWith("/")
                        ? "{type: ReplacePrefixMatch, replacePrefixMatch: " + text + "}, or ReplaceFullPath"
                        : null);
                o.foreign(
                        "regex replacement",
                        "a rewrite knows no regular expressions: write type: ReplacePrefixMatch, replacePrefixMatch: …");
                o.foreign("prefix", "replacePrefixMatch");
                o.foreign("fullPath", "replaceFullPath");
                return v -> {
                    String value = v.get(type) == PathRewriteType.REPLACE_FULL_PATH ? v.find(full) : v.find(prefix);
                    if (value != null && (value.indexOf('?') >= 0 || value.indexOf('#') >= 0)) {
                        v.error(v.position(), "a path has no '?' or '#': the request's query is kept as it is");
                    }
                    return new PathRewrite(v.position(), v.get(type), value == null ? "/" : value);
                };
            });

    private PathRewriteSchema() {}
}
