package dev.gateway.filter;

import dev.gateway.plugin.Settings;

/** A plugin whose filter does nothing. */
public class IdlePlugin implements FilterPlugin {
    @Override
    public String type() {
        return "Idle";
    }

    @Override
    public String description() {
        return "Does nothing.";
    }

    @Override
    public Filter create(Settings settings) {
        return new Filter() {};
    }
}
