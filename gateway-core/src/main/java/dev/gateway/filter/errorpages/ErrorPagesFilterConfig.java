package dev.gateway.filter.errorpages;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.listener.ErrorPagesConfig;
import dev.gateway.config.value.Position;

/** Bodies of the errors of a rule. */
public record ErrorPagesFilterConfig(ErrorPagesConfig pages) implements FilterConfig {
    @Override
    public Position position() {
        return pages.position();
    }

    @Override
    public String type() {
        return ErrorPagesFeature.NAME;
    }

    @Override
    public String summary() {
        return pages.summary();
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }
}
