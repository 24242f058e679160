package dev.gateway.runtime.assembly;

import dev.gateway.config.observe.TracingConfig;
import dev.gateway.connect.assembly.ConnectEntry;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.exchange.settings.GenerationSettings;
import dev.gateway.exchange.settings.ListenerRoutes;
import dev.gateway.upstream.Upstream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One generation: what a configuration has become. An exchange keeps its route and the settings, but no other route: it may
 * last for hours. Immutable except for what its upstreams count; shared by all event loops.
 *
 * @param settings what its exchanges keep
 * @param routers the routes of each listener, by its index; null where this generation has none
 * @param upstreams all of them: in the order of the configuration, then servers of keys, and those of connect last
 * @param connect what the entries of the connect section have become, by their names
 */
public record Generation(
        ExchangeSettings settings,
        List<@Nullable ListenerRouters> routers,
        List<Upstream> upstreams,
        Map<String, ConnectEntry> connect)
        implements ListenerRoutes {
    /**
     * The routes of a listener.
     *
     * @param tunnels the routes of CONNECT, null if there is none
     */
    record ListenerRouters(Router router, @Nullable Router tunnels) {}

    /**
     * What a listener has become.
     *
     * @param routers its routes
     * @param policy what exchanges need of it
     */
    record Listener(ListenerRouters routers, GenerationSettings.ListenerPolicy policy) {}

    public Generation {
        upstreams = List.copyOf(upstreams);
        connect = Map.copyOf(connect);
    }

    /** Makes a generation of listeners by their indexes. */
    static Generation of(
            int generation,
            @Nullable TracingConfig traces,
            Map<Integer, Listener> listeners,
            List<Upstream> upstreams,
            Map<String, ConnectEntry> connect) {
        int size = listeners.isEmpty() ? 0 : Collections.max(listeners.keySet()) + 1;
        List<@Nullable ListenerRouters> routers = new ArrayList<>();
        List<GenerationSettings.@Nullable ListenerPolicy> policies = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            Listener listener = listeners.get(i);
            routers.add(listener == null ? null : listener.routers);
            policies.add(listener == null ? null : listener.policy);
        }
        List<Upstream> all = new ArrayList<>(upstreams);
        connect.values().forEach(entry -> all.addAll(entry.upstreams()));
        return new Generation(
                new GenerationSettings(generation, traces, Collections.unmodifiableList(policies)),
                Collections.unmodifiableList(routers),
                all,
                connect);
    }

    /** Returns its number, 1 for the first. */
    public int generation() {
        return settings.generation();
    }

    @Override
    public int listeners() {
        return routers.size();
    }

    @Override
    public boolean serves(int listener) {
        return routers.get(listener) != null;
    }

    private ListenerRouters routers(int listener) {
        ListenerRouters found = routers.get(listener);
        if (found == null) {
            throw new IllegalArgumentException("generation " + generation() + " has no listener " + listener);
        }
        return found;
    }

    @Override
    public Router router(int listener) {
        return routers(listener).router;
    }

    @Override
    public @Nullable Router tunnels(int listener) {
        return routers(listener).tunnels;
    }
}
