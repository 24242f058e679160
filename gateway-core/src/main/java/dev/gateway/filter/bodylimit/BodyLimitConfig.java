package dev.gateway.filter.bodylimit;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import dev.gateway.format.Sizes;

/**
 * Maximum size of request bodies.
 *
 * @param maxBytes at least 1
 */
public record BodyLimitConfig(Position position, long maxBytes) implements FilterConfig {
    @Override
    public String type() {
        return BodyLimitFeature.NAME;
    }

    @Override
    public String summary() {
        return type() + ": at most " + Sizes.print(maxBytes);
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public boolean onlyLimits() {
        return true;
    }

    @Override
    public boolean protects() {
        return false;
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }
}
