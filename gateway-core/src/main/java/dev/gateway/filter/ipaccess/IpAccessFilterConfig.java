package dev.gateway.filter.ipaccess;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.listener.IpAccessConfig;
import dev.gateway.config.value.Position;

/** Client addresses that may use a route, and those that may not. */
public record IpAccessFilterConfig(IpAccessConfig addresses) implements FilterConfig {
    @Override
    public Position position() {
        return addresses.position();
    }

    @Override
    public String type() {
        return IpAccessFeature.NAME;
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public String listenerKeys() {
        return "ipAccess";
    }
}
