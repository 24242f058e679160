package dev.gateway.config.yaml.schema;

import static java.util.Map.entry;

import dev.gateway.config.FilterConfig.PathRewrite;
import dev.gateway.config.FilterConfig.PathRewriteType;
import dev.gateway.config.FilterConfig.RequestRedirect;
import dev.gateway.config.FilterConfig.UrlRewrite;
import dev.gateway.config.RuleConfig;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Filters that change where a request goes, key by key. */
final class RewriteSchema {
    private static final ScalarType<PathRewriteType> REWRITE_TYPE = Types.words(
            entry("ReplaceFullPath", PathRewriteType.REPLACE_FULL_PATH),
            entry("ReplacePrefixMatch", PathRewriteType.REPLACE_PREFIX_MATCH));

    private static final ScalarType<String> NEW_PATH =
            Types.text("/[!-~]*", "a path that begins with '/', without spaces or non-ASCII characters");

    private static final ObjectType<PathRewrite> PATH =
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

    /** Settings of a redirect. */
    static final ObjectType<RequestRedirect> REDIRECT = ObjectType.of(
            "requestRedirect section",
            "Answers with a redirect. Parts of the URL without a key here stay as requested.",
            o -> {
                var scheme = o.optional(
                        "scheme",
                        Types.words(entry("http", "http"), entry("https", "https")),
                        RequestRedirect::scheme,
                        "New scheme.");
                var hostname =
                        o.optional("hostname", Types.EXACT_HOSTNAME, RequestRedirect::hostname, "New host name.");
                var path = o.optional("path", PATH, RequestRedirect::path, "New path.");
                var port = o.optional(
                        "port",
                        Types.integer(1, 65535),
                        RequestRedirect::port,
                        "New port. The default is that of the new scheme. Without a new scheme it is the "
                                + "listener's port, or the client's if a trusted proxy names scheme or port.");
                var status = o.defaulted(
                        "statusCode",
                        statusCodes(301, 302, 303, 307, 308),
                        302,
                        RequestRedirect::statusCode,
                        "Status of the answer. 301 and 308 are permanent; 307 and 308 keep the method.");
                var headers = o.defaulted(
                        "headers",
                        new ListType<>(HeaderFieldSchema.HEADER, 0),
                        List.of(),
                        RequestRedirect::headers,
                        "Further header fields of the answer.");
                o.foreign("to url location", "write scheme, hostname, port and path");
                o.foreign("permanent", "write statusCode: 301"); // Traefik
                o.foreign("host", "hostname");
                return v -> {
                    if (Stream.of("scheme", "hostname", "path", "port").noneMatch(v::has)) {
                        v.error(
                                v.position(),
                                "this redirect leads to itself: write at least one of scheme, hostname, path and port");
                    }
                    return new RequestRedirect(
                            v.position(),
                            v.find(scheme),
                            v.find(hostname),
                            v.find(path),
                            v.find(port),
                            v.get(status),
                            v.get(headers));
                };
            });

    /** Settings of a rewrite. */
    static final ObjectType<UrlRewrite> REWRITE = ObjectType.of(
            "urlRewrite section", "Changes host and path of the request before the gateway forwards it.", o -> {
                var hostname = o.optional(
                        "hostname", Types.EXACT_HOSTNAME, UrlRewrite::hostname, "Host name that the upstream gets.");
                var path = o.optional("path", PATH, UrlRewrite::path, "Path that the upstream gets.");
                o.foreign(
                        "regex replacement",
                        "a rewrite knows no regular expressions: write path: {type: ReplacePrefixMatch, replacePrefixMatch: …}");
                o.foreign("host", "hostname");
                return v -> new UrlRewrite(v.position(), v.find(hostname), v.find(path));
            });

    private RewriteSchema() {}

    private static ScalarType<Integer> statusCodes(Integer... codes) {
        List<Integer> allowed = List.of(codes);
        return new ScalarType<>(
                ScalarType.Form.BARE,
                Map.of("enum", allowed),
                allowed.get(0),
                (text, site) -> {
                    for (Integer code : allowed) {
                        if (code.toString().equals(text)) {
                            return code;
                        }
                    }
                    throw new InvalidException("expected one of "
                            + allowed.stream().map(String::valueOf).collect(Collectors.joining(", ")) + ", not "
                            + MessageText.quote(text));
                },
                code -> code);
    }

    /** A new path is made of the normal form, and of the only path there is. */
    static void check(UrlRewrite filter, RuleSite site) {
        PathRewrite path = filter.path();
        RuleConfig.Forwarding forwarding = site.rule().forwarding();
        if (path != null && !(forwarding.normalizePath() && forwarding.mergeSlashes())) {
            site.error(
                    path.position(),
                    "URLRewrite changes the normal form of the path, so it has no meaning with "
                            + (forwarding.normalizePath() ? "mergeSlashes" : "normalizePath") + ": false");
        }
        boolean redirects = site.rule().filters().stream()
                .filter(each -> each.answer() != 0)
                .limit(1)
                .anyMatch(RequestRedirect.class::isInstance);
        if (redirects) {
            site.error(
                    filter.position(),
                    "a rule cannot have both URLRewrite and RequestRedirect: give the redirect its own path");
        }
    }
}
