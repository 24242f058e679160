package dev.gateway.status;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.listener.Listener;
import dev.gateway.listener.ListenerSettings;
import dev.gateway.runtime.Listeners;
import dev.gateway.runtime.assembly.ActiveConfig;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the admin listener shows of listeners: those that serve, those that drain, then the admin listener. */
final class ListenerView {
    private final GatewayConfig config;
    private final Listeners listeners;

    ListenerView(ActiveConfig current, Listeners listeners) {
        this.config = current.config;
        this.listeners = listeners;
    }

    List<Map<String, Object>> all() {
        List<Map<String, Object>> all = new ArrayList<>();
        for (Listeners.Serving each : listeners.serving()) {
            Map<String, Object> json =
                    view(each.listener(), each.config().protocols().protocol().name(), "serving");
            json.put("at", each.config().position().toString());
            json.put("routes", routes(each.config()));
            json.put("connect", connect(each.config()));
            all.add(json);
        }
        listeners.leaving().forEach(each -> all.add(view(each, protocol(each), "draining")));
        Listeners.Admin admin = listeners.admin();
        if (admin != null) {
            all.add(view(admin.listener(), protocol(admin.listener()), "serving"));
        }
        return all;
    }

    private static Map<String, Object> view(Listener listener, String protocol, String state) {
        ListenerSettings settings = listener.settings();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", listener.name());
        json.put("url", Listeners.url(listener));
        json.put("protocol", protocol);
        json.put("tls", settings.tls() != null);
        json.put("state", state);
        json.put("connections", listener.connections());
        json.put("maxConnections", settings.limits().maxConnections());
        return json;
    }

    private static String protocol(Listener listener) {
        return listener.settings().tls() != null
                ? "HTTPS"
                : listener.settings().protocols().bytes() != null ? "TCP" : "HTTP";
    }

    private List<String> routes(ListenerConfig listener) {
        return config.routes().stream()
                .filter(route -> route.appliesTo(listener))
                .map(RouteConfig::name)
                .toList();
    }

    private List<String> connect(ListenerConfig listener) {
        return config.connect().stream()
                .filter(entry ->
                        entry.parentRefs().stream().anyMatch(ref -> ref.name().equals(listener.name())))
                .map(ConnectConfig::name)
                .toList();
    }
}
