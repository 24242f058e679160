package dev.gateway.filter.headers;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;

/** Edits of the header of a request on its way upstream. */
public record RequestHeaderModifierConfig(Position position, HeaderEdits edits) implements FilterConfig {
    @Override
    public String type() {
        return RequestHeaderModifierFeature.NAME;
    }
}
