package dev.gateway.runtime;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.StoreConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.ConfigEquality;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What differs between two configurations, by the names of their parts; what they say is compared, not how it is written. */
final class ConfigChange {
    private static final int NAMED = 10;

    private final List<String> added = new ArrayList<>();
    private final List<String> changed = new ArrayList<>();
    private final List<String> removed = new ArrayList<>();

    private ConfigChange(GatewayConfig before, GatewayConfig after) {
        named("listener", before.listeners(), after.listeners(), ListenerConfig::name);
        named("route", before.routes(), after.routes(), RouteConfig::name);
        named("upstream", before.upstreams(), after.upstreams(), UpstreamConfig::name);
        named("store", before.stores(), after.stores(), StoreConfig::name);
        named("connect entry", before.connect(), after.connect(), ConnectConfig::name);
        section("admin", before.admin(), after.admin());
        section("accessLog", before.accessLog(), after.accessLog());
        section("tracing", before.tracing(), after.tracing());
        section("metrics", before.metrics(), after.metrics());
        section("otlp", before.otlp(), after.otlp());
        section("overload", before.overload(), after.overload());
        section("drain", before.drain(), after.drain());
        section("localZone", before.localZone(), after.localZone());
        section("stateDirectory", before.stateDirectory(), after.stateDirectory());
        section("resolver", before.resolver(), after.resolver());
        section("workers", before.workers(), after.workers());
        section("transport", before.transport(), after.transport());
    }

    /** Compares two configurations. */
    static ConfigChange between(GatewayConfig before, GatewayConfig after) {
        return new ConfigChange(before, after);
    }

    private <T> void named(String kind, List<T> before, List<T> after, Function<T, String> name) {
        Map<String, T> former = byName(before, name);
        Map<String, T> now = byName(after, name);
        now.forEach((each, value) -> {
            if (!former.containsKey(each)) {
                added.add(kind + " " + each);
            } else if (!ConfigEquality.isSame(former.get(each), value)) {
                changed.add(kind + " " + each);
            }
        });
        former.keySet().stream().filter(each -> !now.containsKey(each)).forEach(each -> removed.add(kind + " " + each));
    }

    private static <T> Map<String, T> byName(List<T> list, Function<T, String> name) {
        Map<String, T> map = new LinkedHashMap<>();
        list.forEach(each -> map.put(name.apply(each), each));
        return map;
    }

    private void section(String name, @Nullable Object before, @Nullable Object after) {
        if (!ConfigEquality.isSame(before, after)) {
            changed.add(name);
        }
    }

    /** Returns what has been added, in words such as {@code upstream app}. */
    List<String> added() {
        return added;
    }

    List<String> changed() {
        return changed;
    }

    List<String> removed() {
        return removed;
    }

    boolean isNone() {
        return added.isEmpty() && changed.isEmpty() && removed.isEmpty();
    }

    /** Returns it in one line. */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        part(parts, "added", added);
        part(parts, "changed", changed);
        part(parts, "removed", removed);
        return isNone() ? "nothing has changed" : String.join("; ", parts);
    }

    private static void part(List<String> parts, String verb, List<String> names) {
        if (!names.isEmpty()) {
            int more = names.size() - NAMED;
            parts.add(verb + " " + String.join(", ", names.subList(0, Math.min(NAMED, names.size())))
                    + (more > 0 ? " and " + more + " more" : ""));
        }
    }
}
