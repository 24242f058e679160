package dev.gateway.runtime.assembly;

import dev.gateway.connect.assembly.ConnectEntry;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.exchange.settings.ListenerPolicy;
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
 * @param generation its number, 1 for the first
 * @param byIndex what each listener has become, by its index; null where this generation has none
 * @param upstreams all of them: in the order of the configuration, then servers of keys, and those of connect last
 * @param connect what the entries of the connect section have become, by their names
 */
public record Generation(
        int generation, List<@Nullable Listener> byIndex, List<Upstream> upstreams, Map<String, ConnectEntry> connect)
        implements ListenerRoutes {
    /**
     * What a listener has become.
     *
     * @param tunnels the routes of CONNECT, null if there is none
     * @param policy what exchanges keep
     */
    public record Listener(Router router, @Nullable Router tunnels, ListenerPolicy policy) {}

    public Generation {
        upstreams = List.copyOf(upstreams);
        connect = Map.copyOf(connect);
    }

    /** Makes a generation of listeners by their indexes. */
    static Generation of(
            int generation,
            Map<Integer, Listener> listeners,
            List<Upstream> upstreams,
            Map<String, ConnectEntry> connect) {
        int size = listeners.isEmpty() ? 0 : Collections.max(listeners.keySet()) + 1;
        List<@Nullable Listener> byIndex = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            byIndex.add(listeners.get(i));
        }
        List<Upstream> all = new ArrayList<>(upstreams);
        connect.values().forEach(entry -> all.addAll(entry.upstreams()));
        return new Generation(generation, Collections.unmodifiableList(byIndex), all, connect);
    }

    @Override
    public int listeners() {
        return byIndex.size();
    }

    @Override
    public boolean serves(int listener) {
        return byIndex.get(listener) != null;
    }

    private Listener listener(int index) {
        Listener found = byIndex.get(index);
        if (found == null) {
            throw new IllegalArgumentException("generation " + generation + " has no listener " + index);
        }
        return found;
    }

    @Override
    public Router router(int listener) {
        return listener(listener).router;
    }

    @Override
    public @Nullable Router tunnels(int listener) {
        return listener(listener).tunnels;
    }

    @Override
    public ExchangeSettings settings(int listener) {
        return listener(listener).policy;
    }
}
