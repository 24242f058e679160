package dev.gateway.status;

import dev.gateway.admin.AdminPages;
import dev.gateway.config.ConnectConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.listener.ListenerConfig.Protocol;
import dev.gateway.config.route.RouteConfig.ParentRef;
import dev.gateway.connect.AllowList;
import dev.gateway.connect.ProxyAutoConfig;
import dev.gateway.connect.assembly.ConnectEntry;
import dev.gateway.runtime.assembly.ActiveConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * CONNECT status pages: what the admin pages show of the active connect section. Called by the thread that makes pages.
 */
public final class TunnelPages implements AdminPages.Tunnels {
    private final Supplier<@Nullable ActiveConfig> activeConfig;
    private final ToIntFunction<String> ports;

    /**
     * Makes them.
     *
     * @param ports the port that a listener is bound to, by its name
     */
    public TunnelPages(Supplier<@Nullable ActiveConfig> activeConfig, ToIntFunction<String> ports) {
        this.activeConfig = activeConfig;
        this.ports = ports;
    }

    @Override
    public List<String> listeners() {
        ActiveConfig current = activeConfig.get();
        List<String> names = new ArrayList<>();
        if (current != null) {
            for (ConnectConfig entry : current.config.connect()) {
                entry.parentRefs().stream().map(ParentRef::name).forEach(names::add);
            }
        }
        return names;
    }

    @Override
    public @Nullable String proxyAutoConfig(String listener, String host) {
        ActiveConfig current = activeConfig.get();
        ConnectEntry entry = entry(listener);
        if (current == null || entry == null) {
            return null;
        }
        for (ListenerConfig config : current.config.listeners()) {
            if (config.name().equals(listener) && config.bind().unix() == null) {
                boolean tls = config.protocols().protocol() == Protocol.HTTPS;
                return entry.clients().script(new ProxyAutoConfig.Proxy(tls, host, ports.applyAsInt(listener)));
            }
        }
        return null;
    }

    @Override
    public @Nullable String noProxy(String listener) {
        ConnectEntry entry = entry(listener);
        return entry == null ? null : entry.clients().noProxy();
    }

    @Override
    public @Nullable String allowList(String listener) {
        ConnectEntry entry = entry(listener);
        return entry == null ? null : AllowList.of(entry.tally().audit()).toYaml();
    }

    private @Nullable ConnectEntry entry(String listener) {
        ActiveConfig current = activeConfig.get();
        if (current == null) {
            return null;
        }
        for (ConnectConfig config : current.config.connect()) {
            if (config.parentRefs().stream().anyMatch(ref -> ref.name().equals(listener))) {
                return current.snapshot.connect().get(config.name());
            }
        }
        return null;
    }
}
