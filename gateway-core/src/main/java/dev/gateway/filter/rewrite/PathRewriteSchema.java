package dev.gateway.filter.rewrite;

import static java.util.Map.entry;

import dev.gateway.config.filter.FilterConfig.PathRewrite;
import dev.gateway.config.filter.FilterConfig.PathRewriteType;
import dev.gateway.config.yaml.schema.filter.TypeKeys;
import dev.gateway.config.yaml.schema.observe.ForeignPlaceholders;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import java.util.Map;

/** New paths, key by key. */
public final class PathRewriteSchema {
    private static final ScalarType<PathRewriteType> REWRITE_TYPE = Types.words(
            entry("ReplaceFullPath", PathRewriteType.REPLACE_FULL_PATH),
            entry("ReplacePrefixMatch", PathRewriteType.REPLACE_PREFIX_MATCH));

    private static final ScalarType<String> NEW_PATH = Types.text(
                    "/[!-~]*", "a path that begins with '/', without spaces or non-ASCII characters")
            .explained(PathRewriteSchema::hint);

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
                    boolean whole = v.get(type) == PathRewriteType.REPLACE_FULL_PATH;
                    String value = whole ? v.find(full) : v.find(prefix);
                    String key = whole ? full.name() : prefix.name();
                    String placeholder =
                            value == null || v.isFromEnvironment(key) ? null : ForeignPlaceholders.any(value);
                    if (placeholder != null) {
                        v.warning(
                                v.at(key),
                                key + ": " + MessageText.quote(placeholder)
                                        + " stands for itself here, as new paths have no placeholders: "
                                        + (whole
                                                ? "write ReplacePrefixMatch, with a PathPrefix match, to keep what follows a prefix"
                                                : "remove it, what follows the prefix is kept"));
                    }
                    if (value != null && (value.indexOf('?') >= 0 || value.indexOf('#') >= 0)) {
                        v.error(v.position(), "a path has no '?' or '#': the request's query is kept as it is");
                    }
                    return new PathRewrite(v.position(), v.get(type), value == null ? "/" : value);
                };
            });

    private PathRewriteSchema() {}

    private static String hint(String text) {
        if (text.contains("://")) {
            return ": leave scheme and host out";
        } else if (ForeignPlaceholders.any(text) != null) {
            return ": new paths have no placeholders; without path, the request's is kept";
        }
        return text.matches("[A-Za-z0-9._~-][!-~]{0,200}") ? ": write " + MessageText.quote("/" + text) : "";
    }
}
