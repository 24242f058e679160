package dev.gateway.config.yaml.schema;

import static java.util.Map.entry;

import dev.gateway.config.FilterConfig;
import dev.gateway.config.FilterConfig.DirectResponse;
import dev.gateway.config.FilterConfig.Header;
import dev.gateway.config.FilterConfig.HeaderEdits;
import dev.gateway.config.FilterConfig.PathRewrite;
import dev.gateway.config.FilterConfig.PathRewriteType;
import dev.gateway.config.FilterConfig.RequestHeaderModifier;
import dev.gateway.config.FilterConfig.RequestRedirect;
import dev.gateway.config.FilterConfig.ResponseHeaderModifier;
import dev.gateway.config.FilterConfig.UrlRewrite;
import dev.gateway.config.FilterConfig.ValueFile;
import dev.gateway.config.HeaderValueFile;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Secrets;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a filter is, key by key. */
final class FilterSchema {
    /** Filter types, and the key that holds the settings of each. */
    private static final Map<String, String> SETTINGS = Types.ordered(
            entry("RequestHeaderModifier", "requestHeaderModifier"),
            entry("ResponseHeaderModifier", "responseHeaderModifier"),
            entry("RequestRedirect", "requestRedirect"),
            entry("URLRewrite", "urlRewrite"),
            entry("DirectResponse", "directResponse"));

    /** What the gateway itself decides, and a filter would break. */
    private static final Set<String> FRAMING = Set.of(
            "connection",
            "content-length",
            "host",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade");

    private static final ScalarType<String> TYPE = Types.words(
            sameWords(), Map.of("RequestMirror", "mirroring of requests", "CORS", "cross-origin resource sharing"));

    private static final ObjectType<Header> HEADER =
            ObjectType.of("header", "A header field. It has either value or valueFile.", o -> {
                var name = o.required("name", Types.HEADER_NAME, Header::name, "Name of the field.");
                var value = o.optional("value", Types.HEADER_VALUE, FilterSchema::shown, "Value of the field.");
                var file = o.optional(
                        "valueFile",
                        Types.PATH,
                        header -> header.file() == null ? null : header.file().path(),
                        "File with the value in one line, for credentials. The gateway reads it again when it "
                                + "changes.");
                var prefix = o.optional(
                        "valuePrefix",
                        Types.HEADER_VALUE_PREFIX,
                        header ->
                                header.file() == null || header.file().prefix().isEmpty()
                                        ? null
                                        : header.file().prefix(),
                        "Text before the value of valueFile, such as 'Bearer '.");
                o.exactlyOneOf("value", "valueFile");
                o.constraint(
                        values -> values.has("valuePrefix") && !values.has("valueFile")
                                ? new ObjectType.Finding(
                                        "valuePrefix", "valuePrefix needs valueFile: write it into value")
                                : null,
                        Map.of("dependentRequired", Map.of("valuePrefix", List.of("valueFile"))));
                return v -> {
                    refuseFraming(v, "name", v.get(name));
                    String written = v.find(value);
                    String before = v.find(prefix);
                    Path path = v.find(file);
                    if (path != null) {
                        try {
                            HeaderValueFile.read(path);
                        } catch (IOException e) {
                            v.error(v.at("valueFile"), "valueFile: " + e.getMessage());
                        }
                    }
                    return new Header(
                            v.position(),
                            v.get(name),
                            written == null ? "" : written,
                            path == null ? null : new ValueFile(path, before == null ? "" : before),
                            Secrets.isSecret(v.get(name), v.written("value")));
                };
            });

    private static final ObjectType<HeaderEdits> EDITS = ObjectType.of(
            "header edits",
            "Changes to a header section. The gateway removes, then sets, then adds, whatever the "
                    + "order in the file.",
            o -> {
                var set = o.defaulted(
                        "set",
                        new ListType<>(HEADER, 0),
                        List.of(),
                        HeaderEdits::set,
                        "Replaces all fields of each name with one.");
                var add = o.defaulted(
                        "add",
                        new ListType<>(HEADER, 0),
                        List.of(),
                        HeaderEdits::add,
                        "Appends a field, and keeps others of its name.");
                var remove = o.defaulted(
                        "remove",
                        new ListType<>(Types.HEADER_NAME, 0),
                        List.of(),
                        HeaderEdits::remove,
                        "Removes all fields of each name.");
                return v -> {
                    for (String name : v.get(remove)) {
                        refuseFraming(v, "remove", name);
                    }
                    return new HeaderEdits(v.position(), v.get(set), v.get(add), v.get(remove));
                };
            });

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
                choice(o, Map.of("ReplaceFullPath", "replaceFullPath", "ReplacePrefixMatch", "replacePrefixMatch"));
                return v -> {
                    String value = v.get(type) == PathRewriteType.REPLACE_FULL_PATH ? v.find(full) : v.find(prefix);
                    if (value != null && (value.indexOf('?') >= 0 || value.indexOf('#') >= 0)) {
                        v.error(v.position(), "a path has no '?' or '#': the request's query is kept as it is");
                    }
                    return new PathRewrite(v.position(), v.get(type), value == null ? "/" : value);
                };
            });

    private static final ObjectType<RequestRedirect> REDIRECT = ObjectType.of(
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
                                + "listener's port.");
                var status = o.defaulted(
                        "statusCode",
                        statusCodes(301, 302, 303, 307, 308),
                        302,
                        RequestRedirect::statusCode,
                        "Status of the answer. 301 and 308 are permanent; 307 and 308 keep the method.");
                return v -> new RequestRedirect(
                        v.position(), v.find(scheme), v.find(hostname), v.find(path), v.find(port), v.get(status));
            });

    private static final ObjectType<UrlRewrite> REWRITE = ObjectType.of(
            "urlRewrite section", "Changes host and path of the request before the gateway forwards it.", o -> {
                var hostname = o.optional(
                        "hostname", Types.EXACT_HOSTNAME, UrlRewrite::hostname, "Host name that the upstream gets.");
                var path = o.optional("path", PATH, UrlRewrite::path, "Path that the upstream gets.");
                return v -> new UrlRewrite(v.position(), v.find(hostname), v.find(path));
            });

    private static final ObjectType<DirectResponse> DIRECT =
            ObjectType.of("directResponse section", "Answers without an upstream.", o -> {
                var status = o.defaulted(
                        "statusCode",
                        Types.integer(200, 599),
                        200,
                        DirectResponse::statusCode,
                        "Status of the answer.");
                var contentType = o.optional(
                        "contentType",
                        Types.HEADER_VALUE,
                        DirectResponse::contentType,
                        "Content type. The default is text/plain; charset=utf-8 if there is a body.");
                var body = o.defaulted(
                        "body",
                        Types.TEXT,
                        "",
                        DirectResponse::body,
                        "Body of the answer, which the gateway sends as UTF-8.");
                var headers = o.defaulted(
                        "headers",
                        new ListType<>(HEADER, 0),
                        List.of(),
                        DirectResponse::headers,
                        "Further header fields.");
                return v -> {
                    int code = v.get(status);
                    String text = v.get(body);
                    if (!text.isEmpty() && (code == 204 || code == 205 || code == 304)) {
                        v.error(v.at("body"), "body: a response with status " + code + " has none");
                    }
                    String type = v.find(contentType);
                    String written = type == null && !text.isEmpty() ? "text/plain; charset=utf-8" : type;
                    return new DirectResponse(v.position(), code, written, text, v.get(headers));
                };
            });

    /** A filter. */
    static final ObjectType<FilterConfig> FILTER = ObjectType.of(
            "filter",
            "A step that a request or its response passes. Each type has its settings in the key "
                    + "of the same name.",
            o -> {
                o.required("type", TYPE, FilterSchema::typeOf, "What the filter does.");
                var request = o.optional(
                        "requestHeaderModifier",
                        EDITS,
                        f -> f instanceof RequestHeaderModifier modifier ? modifier.edits() : null,
                        "Settings of type RequestHeaderModifier.");
                var response = o.optional(
                        "responseHeaderModifier",
                        EDITS,
                        f -> f instanceof ResponseHeaderModifier modifier ? modifier.edits() : null,
                        "Settings of type ResponseHeaderModifier.");
                var redirect = o.optional(
                        "requestRedirect",
                        REDIRECT,
                        f -> f instanceof RequestRedirect it ? it : null,
                        "Settings of type RequestRedirect.");
                var rewrite = o.optional(
                        "urlRewrite",
                        REWRITE,
                        f -> f instanceof UrlRewrite it ? it : null,
                        "Settings of type URLRewrite.");
                var direct = o.optional(
                        "directResponse",
                        DIRECT,
                        f -> f instanceof DirectResponse it ? it : null,
                        "Settings of type DirectResponse.");
                o.reserve("requestMirror", "mirroring of requests");
                o.reserve("cors", "cross-origin resource sharing");
                choice(o, SETTINGS);
                return v -> {
                    HeaderEdits requestEdits = v.find(request);
                    HeaderEdits responseEdits = v.find(response);
                    RequestRedirect redirection = v.find(redirect);
                    UrlRewrite rewriting = v.find(rewrite);
                    DirectResponse answer = v.find(direct);
                    if (requestEdits != null) {
                        return new RequestHeaderModifier(v.position(), requestEdits);
                    } else if (responseEdits != null) {
                        return new ResponseHeaderModifier(v.position(), responseEdits);
                    } else if (redirection != null) {
                        return redirection;
                    } else if (rewriting != null) {
                        return rewriting;
                    }
                    return answer != null ? answer : new UrlRewrite(v.position(), null, null);
                };
            });

    private FilterSchema() {}

    private static @Nullable String shown(Header header) {
        return header.file() != null ? null : header.secret() ? Secrets.MASK : header.value();
    }

    private static String typeOf(FilterConfig filter) {
        if (filter instanceof RequestHeaderModifier) {
            return "RequestHeaderModifier";
        } else if (filter instanceof ResponseHeaderModifier) {
            return "ResponseHeaderModifier";
        } else if (filter instanceof RequestRedirect) {
            return "RequestRedirect";
        }
        return filter instanceof UrlRewrite ? "URLRewrite" : "DirectResponse";
    }

    /** The key that belongs to the type is required, those of other types are refused. */
    private static <T> void choice(ObjectType.Declaration<T> o, Map<String, String> settings) {
        o.constraint(values -> misplaced(values, settings), choiceSchema(settings));
    }

    private static ObjectType.@Nullable Finding misplaced(Values values, Map<String, String> settings) {
        String type = values.resolved("type");
        String needed = settings.get(type);
        if (needed == null) {
            return null;
        }
        if (!values.has(needed)) {
            return new ObjectType.Finding("type", "type " + type + " needs '" + needed + "'");
        }
        for (String other : settings.values()) {
            if (!other.equals(needed) && values.has(other)) {
                return new ObjectType.Finding(other, "'" + other + "' does not belong to type " + type + ": remove it");
            }
        }
        return null;
    }

    private static Map<String, Object> choiceSchema(Map<String, String> settings) {
        List<Map<String, Object>> cases = settings.entrySet().stream()
                .map(choice -> {
                    Map<String, Object> then = new LinkedHashMap<>();
                    then.put("required", List.of(choice.getValue()));
                    then.put(
                            "not",
                            Map.of(
                                    "anyOf",
                                    settings.values().stream()
                                            .filter(other -> !other.equals(choice.getValue()))
                                            .map(ObjectType::requires)
                                            .toList()));
                    Map<String, Object> condition = Map.of(
                            "properties",
                            Map.of("type", Map.of("const", choice.getKey())),
                            "required",
                            List.of("type"));
                    return Map.<String, Object>of("if", condition, "then", then);
                })
                .toList();
        return Map.of("allOf", cases);
    }

    private static Map<String, String> sameWords() {
        Map<String, String> words = new LinkedHashMap<>();
        SETTINGS.keySet().forEach(word -> words.put(word, word));
        return words;
    }

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
                    throw new InvalidException("expected one of " + allowed + ", not " + MessageText.quote(text));
                },
                code -> code);
    }

    private static void refuseFraming(Values v, String key, String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (FRAMING.contains(lower)) {
            v.error(
                    v.at(key),
                    key + ": '" + name
                            + "' cannot be changed: the gateway sets it, because framing and routing depend on it"
                            + (lower.equals("host") ? " (change the host with URLRewrite or preserveHost)" : ""));
        }
    }
}
