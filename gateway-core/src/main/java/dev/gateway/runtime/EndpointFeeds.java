package dev.gateway.runtime;

import dev.gateway.assembly.ActiveConfig;
import dev.gateway.assembly.UpstreamAssembly;
import dev.gateway.config.ConfigEquality;
import dev.gateway.config.EndpointConfig;
import dev.gateway.config.UpstreamConfig;
import dev.gateway.net.dns.Resolver;
import dev.gateway.upstream.EndpointSource;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.Upstream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Service discovery: keeps the endpoints of each active upstream as its entries and their sources say. Asks a source
 * once, however many entries name it. Used by the thread that reloads.
 */
final class EndpointFeeds {
    private final EndpointUpdates updates;
    private final Function<String, EndpointSource> names;
    private final Executor thread;
    private final Map<String, Known> sources = new HashMap<>(); // by the name that they watch
    private Map<Upstream, List<EndpointConfig>> entries = new HashMap<>();
    private long drainNanos;

    /** A source, and what it has told last. */
    private static final class Known {
        final EndpointSource source;
        List<String> hosts = List.of();

        Known(EndpointSource source) {
            this.source = source;
        }
    }

    /**
     * Makes it with nothing to ask.
     *
     * @param names makes the source of a DNS name
     * @param thread the one that uses this
     */
    EndpointFeeds(EndpointUpdates updates, Function<String, EndpointSource> names, Executor thread) {
        this.updates = updates;
        this.names = names;
        this.thread = thread;
    }

    /** From now on these upstreams have the endpoints that their entries say, and no others are looked after. */
    void use(ActiveConfig active, long drainTimeoutNanos) {
        drainNanos = drainTimeoutNanos;
        Map<Upstream, List<EndpointConfig>> before = entries;
        Map<Upstream, List<EndpointConfig>> next = new HashMap<>();
        for (UpstreamConfig config : active.config.upstreams()) {
            next.put(Objects.requireNonNull(active.upstream(config.name())), config.endpoints());
        }
        entries = next;
        Set<String> wanted = new HashSet<>();
        next.values().stream().flatMap(EndpointFeeds::names).forEach(wanted::add);
        next.forEach((upstream, now) -> {
            List<EndpointConfig> former = before.get(upstream);
            boolean changed = former != null && !ConfigEquality.isSame(former, now);
            boolean known = former == null && names(now).anyMatch(sources::containsKey);
            if (changed || known) { // or it has them already
                update(upstream, now);
            }
        });
        sources.entrySet().removeIf(entry -> {
            boolean unused = !wanted.contains(entry.getKey());
            if (unused) {
                entry.getValue().source.stop();
            }
            return unused;
        });
        wanted.forEach(this::start);
    }

    /** Asks no source any more. */
    void stop() {
        entries = Map.of();
        sources.values().forEach(known -> known.source.stop());
        sources.clear();
    }

    private static Stream<String> names(List<EndpointConfig> entries) {
        return entries.stream().map(EndpointFeeds::name).filter(Objects::nonNull);
    }

    /** Returns the name whose addresses an entry stands for, null if it is an address or a socket. */
    private static @Nullable String name(EndpointConfig entry) {
        String host = entry.host();
        return host == null || Resolver.literal(host) != null ? entry.dns() : host;
    }

    private void start(String name) {
        if (!sources.containsKey(name)) {
            Known known = new Known(names.apply(name));
            sources.put(name, known);
            known.source.start(hosts -> thread.execute(() -> onHosts(name, known, hosts)));
        }
    }

    private void onHosts(String name, Known known, List<String> hosts) {
        known.hosts = hosts;
        if (sources.get(name) != known) {
            return; // nobody wants to know any more
        }
        entries.forEach((upstream, of) -> {
            if (names(of).anyMatch(name::equals)) {
                update(upstream, of);
            }
        });
    }

    private void update(Upstream upstream, List<EndpointConfig> of) {
        updates.update(upstream, of.stream().flatMap(this::specs).toList(), drainNanos);
    }

    private Stream<EndpointSpec> specs(EndpointConfig entry) {
        EndpointSpec whole = UpstreamAssembly.spec(entry);
        String name = name(entry);
        Known known = name == null ? null : sources.get(name);
        if (known == null || known.hosts.isEmpty() || (known.hosts.size() == 1 && entry.dns() == null)) {
            return Stream.of(whole); // a host that is one machine is called by its name
        }
        List<EndpointSpec> specs = new ArrayList<>();
        for (String host : known.hosts) {
            specs.add(new EndpointSpec(
                    host,
                    whole.port(),
                    whole.weight() / known.hosts.size(),
                    whole.name(),
                    whole.zone(),
                    EndpointSpec.DNS + name));
        }
        return specs.stream();
    }
}
