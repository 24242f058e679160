package dev.gateway.filter.urlrewrite;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import org.jspecify.annotations.Nullable;

/** Changes host and path of a request before it is forwarded; what is null stays. */
public record UrlRewriteConfig(Position position, @Nullable String hostname, @Nullable PathRewrite path)
        implements FilterConfig {
    @Override
    public String type() {
        return UrlRewriteFeature.NAME;
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }

    @Override
    public @Nullable PathRewrite rewrite() {
        return path;
    }
}
