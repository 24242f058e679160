package dev.gateway.config.filter;

import dev.gateway.config.value.Position;

/**
 * A filter of a type that the gateway does not have itself, as a tool reads it that loads no plugins. A configuration that has
 * one cannot run.
 *
 * @param written the filter as it was written, of maps, lists and scalars, without what must not be shown
 */
public record UncheckedFilterConfig(Position position, String type, Object written) implements FilterConfig {
    @Override
    public String summary() {
        return type + " (of a plugin, which is not loaded)";
    }

    /** It may be what finds out who sends a request. */
    @Override
    public boolean identifies() {
        return true;
    }

    @Override
    public boolean decidesByPath() {
        return true;
    }

    @Override
    public boolean verifiesClaims() {
        return true;
    }
}
