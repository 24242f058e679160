package dev.gateway.assembly;

import static dev.gateway.assembly.RewriteFilters.edits;
import static dev.gateway.assembly.RewriteFilters.path;

import dev.gateway.config.AccessConfig;
import dev.gateway.config.BodyConfig;
import dev.gateway.config.ClientCertificateConfig;
import dev.gateway.config.ErrorPagesConfig;
import dev.gateway.config.ExternalAuthConfig;
import dev.gateway.config.FilterConfig;
import dev.gateway.config.JwtConfig;
import dev.gateway.config.PluginFilterConfig;
import dev.gateway.config.RateLimitConfig;
import dev.gateway.config.RequestMirrorConfig;
import dev.gateway.config.UncheckedFilterConfig;
import dev.gateway.filter.FilterOrder;
import dev.gateway.filter.body.BodyLimit;
import dev.gateway.filter.rewrite.RequestHeaderModifier;
import dev.gateway.filter.rewrite.ResponseHeaderModifier;
import dev.gateway.filter.rewrite.UrlRewrite;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Filter types at run time: the table of what becomes of each type of filter settings. What the configuration file knows of
 * a type is in the table of the same name in the schema.
 */
final class FilterTypes {
    private static final Map<Class<?>, FilterType<?>> ALL = Stream.of(
                    new FilterType<>(
                            ErrorPagesConfig.class,
                            FilterOrder.ERROR_PAGES,
                            (config, site) -> ErrorPageFiles.pages(config, site.states())),
                    new FilterType<>(AccessConfig.IpAccess.class, FilterOrder.IP_ACCESS, AccessFilters::ipAccess),
                    new FilterType<>(
                            AccessConfig.Cors.class, FilterOrder.CORS, (config, site) -> AccessFilters.cors(config)),
                    new FilterType<>(
                            ClientCertificateConfig.class,
                            FilterOrder.CLIENT_CERTIFICATE,
                            (config, site) -> AccessFilters.clientCertificate(config)),
                    new FilterType<>(AccessConfig.BasicAuth.class, FilterOrder.BASIC_AUTH, AccessFilters::basicAuth),
                    new FilterType<>(AccessConfig.ApiKey.class, FilterOrder.API_KEY, AccessFilters::apiKey),
                    new FilterType<>(JwtConfig.class, FilterOrder.JWT, JwtFilters::jwt),
                    new FilterType<>(ExternalAuthConfig.class, FilterOrder.EXTERNAL_AUTH, ExternalAuthFilters::filter),
                    new FilterType<>(RateLimitConfig.class, FilterOrder.RATE_LIMIT, RateLimitFilters::filter),
                    new FilterType<>(
                            BodyConfig.BodyLimit.class,
                            FilterOrder.BODY_LIMIT,
                            (config, site) -> new BodyLimit(config.maxBytes())),
                    new FilterType<>(
                            FilterConfig.RequestRedirect.class, FilterOrder.REQUEST_REDIRECT, RewriteFilters::redirect),
                    new FilterType<>(
                            FilterConfig.DirectResponse.class,
                            FilterOrder.DIRECT_RESPONSE,
                            RewriteFilters::directResponse),
                    new FilterType<>(
                            BodyConfig.Decompression.class, FilterOrder.DECOMPRESSION, BodyFilters::decompression),
                    new FilterType<>(BodyConfig.Compression.class, FilterOrder.COMPRESSION, BodyFilters::compression),
                    new FilterType<>(
                            FilterConfig.RequestHeaderModifier.class,
                            FilterOrder.REQUEST_HEADER_MODIFIER,
                            (config, site) -> new RequestHeaderModifier(edits(config.edits(), site))),
                    new FilterType<>(
                            FilterConfig.UrlRewrite.class,
                            FilterOrder.URL_REWRITE,
                            (config, site) -> new UrlRewrite(config.hostname(), path(config.path()))),
                    new FilterType<>(
                            RequestMirrorConfig.class, FilterOrder.REQUEST_MIRROR, MirrorFilters::requestMirror),
                    new FilterType<>(
                            FilterConfig.ResponseHeaderModifier.class,
                            FilterOrder.RESPONSE_HEADER_MODIFIER,
                            (config, site) -> new ResponseHeaderModifier(edits(config.edits(), site), config.always())))
            .collect(Collectors.toUnmodifiableMap(FilterType::record, Function.identity()));

    private FilterTypes() {}

    /** Returns the type of a filter. */
    static FilterType<?> of(FilterConfig config) {
        if (config instanceof UncheckedFilterConfig unchecked) {
            return PluginFilters.unchecked(unchecked);
        }
        return config instanceof PluginFilterConfig plugin ? PluginFilters.type(plugin) : of(config.getClass());
    }

    /** Returns the type of settings, of those that the gateway itself has. */
    static FilterType<?> of(Class<?> settings) {
        FilterType<?> type = ALL.get(settings);
        if (type == null) {
            throw new IllegalArgumentException("a filter of an unknown type: " + settings);
        }
        return type;
    }
}
