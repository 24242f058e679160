package dev.gateway.upstream;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Drains from before the start, of endpoints that discovery has not found yet. Guarded by the {@link Health} of the
 * upstream.
 */
final class ExpectedDrains {
    private final Map<String, Expected> byAddress = new LinkedHashMap<>();

    /** A drain; null sessions go to other endpoints. */
    private record Expected(Host.@Nullable SessionDrain sessions) {}

    ExpectedDrains() {}

    ExpectedDrains(ExpectedDrains other) {
        byAddress.putAll(other.byAddress);
    }

    void add(String address, Host.@Nullable SessionDrain sessions) {
        byAddress.put(address, new Expected(sessions));
    }

    boolean isEmpty() {
        return byAddress.isEmpty();
    }

    /** Returns whether there was one. */
    boolean remove(String address) {
        return byAddress.remove(address) != null;
    }

    /** Lets a host drain if that is expected of it; the caller chooses then. */
    void give(Host host) {
        Expected drain = byAddress.isEmpty() ? null : byAddress.remove(host.toString());
        if (drain != null) {
            host.draining = true;
            host.sessionDrain = drain.sessions;
        }
    }

    /** Ends the sessions of a drain; returns whether there were any. */
    boolean endSessions(String address, long number) {
        Expected drain = byAddress.get(address);
        boolean had = drain != null && drain.sessions != null && drain.sessions.number() == number;
        if (had) {
            add(address, null);
        }
        return had;
    }

    /** Forgets all, and returns their addresses. */
    List<String> clear() {
        List<String> addresses = List.copyOf(byAddress.keySet());
        byAddress.clear();
        return addresses;
    }

    void forEach(BiConsumer<String, Host.@Nullable SessionDrain> action) {
        byAddress.forEach((address, drain) -> action.accept(address, drain.sessions));
    }
}
