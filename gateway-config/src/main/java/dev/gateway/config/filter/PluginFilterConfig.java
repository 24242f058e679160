package dev.gateway.config.filter;

import dev.gateway.config.value.Position;
import dev.gateway.plugin.FilterPlace;
import dev.gateway.plugin.Settings;

/**
 * Settings of a filter of a plugin.
 *
 * @param declaration the type, which also tells two plugins of one name apart
 */
public record PluginFilterConfig(Position position, FilterDeclaration declaration, Settings settings)
        implements FilterConfig {
    @Override
    public String type() {
        return declaration.type();
    }

    @Override
    public int answer() {
        return declaration.answer();
    }

    @Override
    public boolean guards() {
        return declaration.guards() || refusesAll();
    }

    @Override
    public boolean decidesByPath() {
        return declaration.decidesByPath();
    }

    /** Whether it may find out who sends a request: its place says so. */
    @Override
    public boolean identifies() {
        return declaration.place() == FilterPlace.AUTHENTICATION;
    }

    @Override
    public boolean verifiesClaims() {
        return identifies();
    }
}
