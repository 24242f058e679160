package dev.gateway.filter.cors;

import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.schema.filter.RuleSite;
import dev.gateway.config.yaml.schema.route.Origins;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Filter type CORS. */
public final class CorsFeature implements FilterFeature<CorsConfig> {
    static final String NAME = "CORS";

    private static final String ALL = "*";
    private static final String PATTERN = "\\*|[A-Za-z][A-Za-z0-9+.-]*://(\\*\\.)?[^/?#@\\s*]+";

    private static final ScalarType<String> ORIGINS = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^(" + PATTERN + ")$"),
                    "https://placeholder",
                    (text, site) -> origins(text),
                    value -> value)
            .named(
                    "origins",
                    "An origin such as https://example.com or https://example.com:8443, https://*.example.com for all "
                            + "names below a domain, or '*' for all origins.");

    private static final ObjectType<CorsConfig> SETTINGS = ObjectType.of(
            "cors section",
            "Lets pages of other origins use the route (CORS). The gateway answers preflight requests, and replaces the "
                    + "upstream's own fields of CORS.",
            o -> {
                var origins = o.required(
                        "allowOrigins",
                        new ListType<>(ORIGINS, 1),
                        CorsConfig::allowOrigins,
                        "Origins of pages that may use the route.");
                var methods = o.defaulted(
                        "allowMethods",
                        new ListType<>(Types.METHOD, 0),
                        List.of(),
                        CorsConfig::allowMethods,
                        "Methods that pages may use, or '*' for all. Browsers always allow GET, HEAD and POST.");
                var headers = o.defaulted(
                        "allowHeaders",
                        new ListType<>(Types.HEADER_NAME, 0),
                        List.of(),
                        CorsConfig::allowHeaders,
                        "Header fields that pages may send, or '*' for all, also Authorization.");
                var exposed = o.defaulted(
                        "exposeHeaders",
                        new ListType<>(Types.HEADER_NAME, 0),
                        List.of(),
                        CorsConfig::exposeHeaders,
                        "Header fields of responses that pages may read, or '*' for all.");
                var maxAge = o.defaulted(
                        "maxAge",
                        Types.DURATION,
                        Duration.ofSeconds(5),
                        CorsConfig::maxAge,
                        "How long a browser may reuse the answer to a preflight request. Browsers have limits of their "
                                + "own, such as 2h.");
                var credentials = o.defaulted(
                        "allowCredentials",
                        Types.BOOLEAN,
                        false,
                        CorsConfig::allowCredentials,
                        "Whether requests of pages may carry cookies and other credentials.");
                o.foreign("accessControlAllowOriginList", "allowOrigins"); // Traefik, as all of these
                o.foreign("accessControlAllowOriginListRegex", "write allowOrigins: ['https://*.example.com']");
                o.foreign("accessControlAllowMethods", "allowMethods");
                o.foreign("accessControlAllowHeaders", "allowHeaders");
                o.foreign("accessControlExposeHeaders", "exposeHeaders");
                o.foreign("accessControlMaxAge", "maxAge");
                o.foreign("accessControlAllowCredentials", "allowCredentials");
                return v -> {
                    alone(v, "allowOrigins", v.get(origins));
                    alone(v, "allowMethods", v.get(methods));
                    alone(v, "allowHeaders", v.get(headers));
                    alone(v, "exposeHeaders", v.get(exposed));
                    if (v.get(credentials) && v.get(exposed).contains(ALL)) {
                        v.error(
                                v.at("exposeHeaders"),
                                "exposeHeaders: with allowCredentials, browsers take '*' as a name: write each name");
                    }
                    if (v.get(credentials) && v.get(origins).contains(ALL)) {
                        v.warning(
                                v.at("allowOrigins"),
                                "allowOrigins: with allowCredentials, any page may act as its user here: name the origins");
                    }
                    if (!v.get(credentials)
                            && v.get(origins).contains(ALL)
                            && v.get(headers).contains(ALL)) {
                        v.warning(
                                v.at("allowHeaders"),
                                "allowHeaders: '*' includes Authorization, so any page may use a token that it has got: "
                                        + "name the headers or the origins");
                    }
                    return new CorsConfig(
                            v.position(),
                            v.get(origins),
                            v.get(methods),
                            v.get(headers),
                            v.get(exposed),
                            v.get(maxAge),
                            v.get(credentials));
                };
            });

    private static final FilterType<CorsConfig, ?> TYPE =
            FilterType.of(NAME, "cors", CorsConfig.class, SETTINGS).checkedBy(CorsFeature::check);

    @Override
    public FilterType<CorsConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(CorsConfig config, FilterSite site) {
        return new Cors(config);
    }

    private static void alone(Values v, String key, List<String> values) {
        if (values.size() > 1 && values.contains(ALL)) {
            v.error(v.at(key), key + ": '*' stands for all: write it alone");
        }
    }

    private static String origins(String text) throws InvalidException {
        if (text.equals(ALL)) {
            return text;
        }
        String lower = text.toLowerCase(Locale.ROOT);
        int wildcard = lower.indexOf("://*.");
        String one = wildcard < 0 ? lower : lower.substring(0, wildcard + 3) + lower.substring(wildcard + 5);
        String origin = Origins.written(one);
        if (origin.isEmpty()) {
            throw new InvalidException(
                    "expected an origin such as https://example.com, https://*.example.com or '*', not "
                            + MessageText.quote(text) + Origins.hint(text));
        }
        return wildcard < 0 ? origin : origin.replaceFirst("://", "://*.");
    }

    /** Browsers ask by OPTIONS before they send what they want to. */
    private static void check(CorsConfig filter, RuleSite site) {
        if (site.rule().matches().stream()
                .allMatch(match -> match.method() != null && !match.method().equals("OPTIONS"))) {
            site.warning(
                    filter.position(),
                    "browsers ask by OPTIONS first, which no match of this rule takes: add one with 'method: OPTIONS'");
        }
    }
}
