package dev.gateway.assembly;

import dev.gateway.config.FilterConfig;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.fields.ConfiguredFields;
import dev.gateway.filter.rewrite.PathRewrite;
import dev.gateway.filter.rewrite.RequestRedirect;
import dev.gateway.process.StartException;
import org.jspecify.annotations.Nullable;

/** Makes filters that edit requests and responses, or answer. */
final class RewriteFilters {
    private RewriteFilters() {}

    static Filter redirect(FilterConfig.RequestRedirect config, FilterSite site) throws StartException {
        Integer port = config.port();
        return new RequestRedirect(
                config.scheme(),
                config.hostname(),
                port == null ? 0 : port,
                path(config.path()),
                config.statusCode(),
                ConfiguredFields.of(config.headers(), site));
    }

    static @Nullable PathRewrite path(FilterConfig.@Nullable PathRewrite rewrite) {
        if (rewrite == null) {
            return null;
        }
        return switch (rewrite.type()) {
            case REPLACE_FULL_PATH -> PathRewrite.full(rewrite.value());
            case REPLACE_PREFIX_MATCH -> PathRewrite.prefix(rewrite.value());
        };
    }
}
