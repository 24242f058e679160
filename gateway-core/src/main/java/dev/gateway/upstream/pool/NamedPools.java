package dev.gateway.upstream.pool;

import dev.gateway.stream.CloseCause;
import dev.gateway.upstream.Host;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The pools of one event loop for names that requests have chosen, a pool for each name and endpoint. Names that nothing uses
 * give way to others. Confined to its loop.
 */
final class NamedPools {
    private final ServerNames names;
    private final Map<String, Use> uses = new LinkedHashMap<>(16, 0.75f, true); // the least recently used first

    /** What a name is used by. */
    private static final class Use {
        final Map<Host, EndpointPool> own = new HashMap<>();
        final List<EndpointPool> all = new ArrayList<>(); // those of HTTP/1.1 for upgrades, too
    }

    NamedPools(ServerNames names) {
        this.names = names;
    }

    /** Returns the pool of a name for an endpoint, or null. */
    @Nullable
    EndpointPool find(Host host, String name) {
        Use use = uses.get(name);
        return use == null ? null : use.own.get(host);
    }

    /** Takes a name, of which others may give way on this loop; returns whether there is room. Pools may be added then. */
    boolean tryTake(String name) {
        if (uses.containsKey(name)) {
            return true;
        }
        boolean taken = names.tryTake(name) || (giveUp() && names.tryTake(name));
        if (taken) {
            uses.put(name, new Use());
        }
        return taken;
    }

    /** Adds a pool of a name that was taken. */
    void add(String name, EndpointPool pool) {
        Use use = uses.get(name);
        if (use != null) {
            use.all.add(pool);
            if (!pool.endpoint.http1Only) {
                use.own.put(pool.endpoint.host, pool);
            }
        }
    }

    /** A pool of a name is empty. */
    void remove(String name, EndpointPool pool) {
        Use use = uses.get(name);
        if (use != null && use.all.remove(pool)) {
            use.own.remove(pool.endpoint.host, pool);
            if (use.all.isEmpty()) {
                uses.remove(name);
                names.release(name);
            }
        }
    }

    /** Closes the connections of names that no request uses, until there is room; returns whether there is. */
    boolean giveUp() {
        for (Map.Entry<String, Use> entry : List.copyOf(uses.entrySet())) {
            Use use = entry.getValue();
            if (!names.hasRoom() && use.all.stream().allMatch(EndpointPool::isUnused)) {
                String name = entry.getKey();
                uses.remove(name);
                names.release(name);
                List.copyOf(use.all).forEach(pool -> pool.kept.retireAll(CloseCause.LIMIT));
            }
        }
        return names.hasRoom();
    }
}
