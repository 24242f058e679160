package dev.gateway.config.yaml.schema;

import dev.gateway.config.AccessConfig.ApiKey;
import dev.gateway.config.AccessConfig.BasicAuth;
import dev.gateway.config.AccessConfig.Cors;
import dev.gateway.config.AccessConfig.IpAccess;
import dev.gateway.config.BodyConfig.BodyLimit;
import dev.gateway.config.BodyConfig.Compression;
import dev.gateway.config.BodyConfig.Decompression;
import dev.gateway.config.ClientCertificateConfig;
import dev.gateway.config.ErrorPagesConfig;
import dev.gateway.config.ExternalAuthConfig;
import dev.gateway.config.FilterConfig.DirectResponse;
import dev.gateway.config.FilterConfig.RequestHeaderModifier;
import dev.gateway.config.FilterConfig.RequestRedirect;
import dev.gateway.config.FilterConfig.ResponseHeaderModifier;
import dev.gateway.config.FilterConfig.UrlRewrite;
import dev.gateway.config.JwtConfig;
import dev.gateway.config.RateLimitConfig;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Filter types: the table of what a filter may be, from which reading, the JSON Schema, printing and the reference follow.
 * In the order in which requests pass them, which {@code FilterOrder} gives the reasons for.
 */
public final class FilterTypes {
    static final List<FilterType<?, ?>> ALL = List.of(
            FilterType.of("ErrorPages", "errorPages", ErrorPagesConfig.class, ErrorPagesSchema.ERROR_PAGES),
            FilterType.of("IPAccess", "ipAccess", IpAccess.class, IpAccessSchema.IP_ACCESS),
            FilterType.of("CORS", "cors", Cors.class, CorsSchema.CORS),
            FilterType.of(
                    "ClientCertificate",
                    "clientCertificate",
                    ClientCertificateConfig.class,
                    ClientCertificateSchema.CLIENT_CERTIFICATE),
            FilterType.of("BasicAuth", "basicAuth", BasicAuth.class, AuthFilterSchema.BASIC),
            FilterType.of("APIKey", "apiKey", ApiKey.class, AuthFilterSchema.API_KEY),
            FilterType.of("JWT", "jwt", JwtConfig.class, JwtSchema.JWT),
            FilterType.of("ExternalAuth", "externalAuth", ExternalAuthConfig.class, ExternalAuthSchema.EXTERNAL_AUTH),
            FilterType.of("RateLimit", "rateLimit", RateLimitConfig.class, RateLimitSchema.RATE_LIMIT),
            FilterType.of("BodyLimit", "bodyLimit", BodyLimit.class, BodyFilterSchema.LIMIT),
            FilterType.of("RequestRedirect", "requestRedirect", RequestRedirect.class, RewriteSchema.REDIRECT),
            FilterType.of("DirectResponse", "directResponse", DirectResponse.class, DirectResponseSchema.DIRECT),
            FilterType.of("Decompression", "decompression", Decompression.class, BodyFilterSchema.DECOMPRESSION),
            FilterType.of("Compression", "compression", Compression.class, BodyFilterSchema.COMPRESSION),
            new FilterType<>(
                    "RequestHeaderModifier",
                    "requestHeaderModifier",
                    RequestHeaderModifier.class,
                    HeaderEditsSchema.EDITS,
                    RequestHeaderModifier::new,
                    RequestHeaderModifier::edits),
            FilterType.of("URLRewrite", "urlRewrite", UrlRewrite.class, RewriteSchema.REWRITE),
            new FilterType<>(
                    "ResponseHeaderModifier",
                    "responseHeaderModifier",
                    ResponseHeaderModifier.class,
                    HeaderEditsSchema.EDITS,
                    ResponseHeaderModifier::new,
                    ResponseHeaderModifier::edits));

    /** Types that a later version will have, by their keys. */
    static final Map<String, Later> LATER =
            Map.of("requestMirror", new Later("RequestMirror", "mirroring of requests"));

    /** A type that a later version will have. */
    record Later(String name, String what) {}

    private FilterTypes() {}

    /** Returns the names of all types, in the order in which requests pass them. */
    public static List<String> names() {
        return ALL.stream().map(FilterType::name).toList();
    }

    /** Returns the records of all types, in the same order. */
    public static List<Class<?>> records() {
        return ALL.stream().map(FilterType::record).collect(Collectors.toUnmodifiableList());
    }
}
