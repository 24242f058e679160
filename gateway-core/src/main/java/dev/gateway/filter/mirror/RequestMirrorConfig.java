package dev.gateway.filter.mirror;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Request mirroring filter settings: which share of the requests is also sent to another upstream.
 *
 * @param percent of the requests, 0 to 100; counts only without a fraction
 * @param fraction of the requests, null for {@code percent}
 */
public record RequestMirrorConfig(Position position, UpstreamRef backendRef, int percent, @Nullable Fraction fraction)
        implements FilterConfig {
    private static final int ALL = 100;

    @Override
    public String type() {
        return RequestMirrorFeature.NAME;
    }

    @Override
    public String summary() {
        String share = fraction != null
                ? fraction.numerator + " of " + fraction.denominator + " requests"
                : percent == ALL ? "all requests" : percent + "% of the requests";
        return type() + ": sends copies of " + share + " to " + backendRef.name();
    }

    @Override
    public List<UpstreamRef> upstreams() {
        return List.of(backendRef);
    }

    /** Returns the share that is copied. */
    public Fraction share() {
        return fraction != null ? fraction : new Fraction(position, percent, ALL);
    }

    /**
     * A share of requests.
     *
     * @param numerator 0 to the denominator
     * @param denominator at least 1
     */
    public record Fraction(Position position, int numerator, int denominator) {}
}
