package dev.gateway.filter.redirect;

import static java.util.Map.entry;

import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.schema.observe.ForeignPlaceholders;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.fields.ConfiguredFields;
import dev.gateway.filter.fields.HeaderFieldSchema;
import dev.gateway.filter.rewrite.PathRewrite;
import dev.gateway.filter.rewrite.PathRewriteSchema;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Filter type RequestRedirect. */
public final class RequestRedirectFeature implements FilterFeature<RequestRedirectConfig> {
    static final String NAME = "RequestRedirect";

    private static final ScalarType<String> HOSTNAME = Types.EXACT_HOSTNAME.explained(text -> text.length() > 300
            ? ""
            : ForeignPlaceholders.any(text) != null
                    ? ": remove it to keep the request's"
                    : text.matches("[^:]*:[0-9]{1,5}") ? " Write the port as 'port'" : "");

    private static final ObjectType<RequestRedirectConfig> SETTINGS = ObjectType.of(
            "requestRedirect section",
            "Answers with a redirect. Parts of the URL without a key here stay as requested.",
            o -> {
                var scheme = o.optional(
                        "scheme",
                        Types.words(entry("http", "http"), entry("https", "https")),
                        RequestRedirectConfig::scheme,
                        "New scheme.");
                var hostname = o.optional("hostname", HOSTNAME, RequestRedirectConfig::hostname, "New host name.");
                var path = o.optional("path", PathRewriteSchema.PATH, RequestRedirectConfig::path, "New path.");
                var port = o.optional(
                        "port",
                        Types.integer(1, 65535),
                        RequestRedirectConfig::port,
                        "New port. The default is that of the new scheme. Without a new scheme it is the "
                                + "listener's port, or the client's if a trusted proxy names scheme or port.");
                var status = o.defaulted(
                        "statusCode",
                        statusCodes(301, 302, 303, 307, 308),
                        302,
                        RequestRedirectConfig::statusCode,
                        "Status of the answer. 301 and 308 are permanent; 307 and 308 keep the method.");
                var headers = o.defaulted(
                        "headers",
                        new ListType<>(HeaderFieldSchema.HEADER, 0),
                        List.of(),
                        RequestRedirectConfig::headers,
                        "Further header fields of the answer.");
                o.foreign("to url location", "write scheme, hostname, port and path");
                o.foreign("permanent", "write statusCode: 301"); // Traefik
                o.foreign("httpsRedirect", "write scheme: https"); // Envoy
                o.foreign("host", "hostname");
                return v -> {
                    if (v.isSound()
                            && Stream.of("scheme", "hostname", "path", "port").noneMatch(v::has)) {
                        v.error(
                                v.position(),
                                "this redirect leads to itself: write at least one of scheme, hostname, path and port");
                    }
                    return new RequestRedirectConfig(
                            v.position(),
                            v.find(scheme),
                            v.find(hostname),
                            v.find(path),
                            v.find(port),
                            v.get(status),
                            v.get(headers));
                };
            });

    private static final FilterType<RequestRedirectConfig, ?> TYPE = FilterType.of(
                    NAME, "requestRedirect", RequestRedirectConfig.class, SETTINGS)
            .answering()
            .alsoCalled("redirectregex redirectscheme") // Traefik
            .hinting(
                    FilterHint.Place.RULE,
                    "redirect return",
                    "write filters: [{type: RequestRedirect, requestRedirect: …}]");

    @Override
    public FilterType<RequestRedirectConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(RequestRedirectConfig config, FilterSite site) throws StartException {
        Integer port = config.port();
        return new RequestRedirect(
                config.scheme(),
                config.hostname(),
                port == null ? 0 : port,
                PathRewrite.of(config.path()),
                config.statusCode(),
                ConfiguredFields.of(config.headers(), site));
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
                    throw new InvalidException("expected one of "
                            + allowed.stream().map(String::valueOf).collect(Collectors.joining(", ")) + ", not "
                            + MessageText.quote(text));
                },
                code -> code);
    }
}
