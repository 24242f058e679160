package dev.gateway.filter.headers;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;

/**
 * Edits of the header of a response on its way downstream.
 *
 * @param always whether the gateway's own answers are edited, too
 */
public record ResponseHeaderModifierConfig(Position position, HeaderEdits edits, boolean always)
        implements FilterConfig {
    @Override
    public String type() {
        return ResponseHeaderModifierFeature.NAME;
    }

    @Override
    public boolean editsAnswers() {
        return always;
    }
}
