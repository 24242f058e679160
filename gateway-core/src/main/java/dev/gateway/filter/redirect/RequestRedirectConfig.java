package dev.gateway.filter.redirect;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import dev.gateway.filter.fields.HeaderField;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers with a redirect; what is null stays as it was requested.
 *
 * @param scheme {@code http}, {@code https} or null
 * @param port null for the scheme's well-known port if a scheme is given, else for the listener's
 * @param statusCode 301, 302, 303, 307 or 308
 * @param headers further fields of the answer
 */
public record RequestRedirectConfig(
        Position position,
        @Nullable String scheme,
        @Nullable String hostname,
        @Nullable PathRewrite path,
        @Nullable Integer port,
        int statusCode,
        List<HeaderField> headers)
        implements FilterConfig {
    public RequestRedirectConfig {
        headers = List.copyOf(headers);
    }

    @Override
    public String type() {
        return RequestRedirectFeature.NAME;
    }

    @Override
    public int answer() {
        return statusCode;
    }

    @Override
    public boolean redirects() {
        return true;
    }

    @Override
    public @Nullable PathRewrite rewrite() {
        return path;
    }
}
