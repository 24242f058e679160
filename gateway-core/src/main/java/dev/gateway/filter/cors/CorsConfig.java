package dev.gateway.filter.cors;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import java.time.Duration;
import java.util.List;

/**
 * Pages of other origins whose scripts may use a route (the Gateway API's HTTPCORSFilter). {@code *} alone stands for all.
 *
 * @param allowOrigins in lower case: {@code *}, {@code https://example.com} or {@code https://*.example.com}
 * @param exposeHeaders names of response fields that pages may read; not {@code *} with credentials
 */
public record CorsConfig(
        Position position,
        List<String> allowOrigins,
        List<String> allowMethods,
        List<String> allowHeaders,
        List<String> exposeHeaders,
        Duration maxAge,
        boolean allowCredentials)
        implements FilterConfig {
    public CorsConfig {
        allowOrigins = List.copyOf(allowOrigins);
        allowMethods = List.copyOf(allowMethods);
        allowHeaders = List.copyOf(allowHeaders);
        exposeHeaders = List.copyOf(exposeHeaders);
    }

    @Override
    public String type() {
        return CorsFeature.NAME;
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }
}
