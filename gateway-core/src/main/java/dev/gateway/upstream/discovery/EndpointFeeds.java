package dev.gateway.upstream.discovery;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.EndpointConfig.Place;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.files.FileFault;
import dev.gateway.files.StartException;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.pool.Pools;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Collectors;

/**
 * Service discovery: updates the endpoints of each active upstream from its entries and their sources. Equal entries share
 * one source. Used by the reload thread; any thread may read the state of sources.
 */
public final class EndpointFeeds {
    private final EndpointUpdates updates;
    private final EndpointSources sources;
    private final SourceGroup<Place> group;
    private final Map<Upstream, List<EndpointSpec>> given = new HashMap<>();
    private Map<Upstream, List<EndpointConfig>> entries = new HashMap<>();
    private final Set<Upstream> begun = new HashSet<>(); // which know all their endpoints, or follow one that did
    private Prepared prepared = new Prepared(Map.of());
    private volatile Map<String, List<Watched>> watched = Map.of(); // by the name of the upstream
    private long drainNanos;

    /** The sources that a configuration needs in addition to the running ones. */
    public static final class Prepared {
        private final Map<Place, EndpointSource> added;

        private Prepared(Map<Place, EndpointSource> added) {
            this.added = added;
        }
    }

    /** An entry and its source. */
    private record Watched(EndpointConfig entry, SourceGroup.Member member, String emptiness) {
        SourceState state() {
            return new SourceState(
                    EndpointEntries.source(entry.place()),
                    Objects.requireNonNull(EndpointEntries.kind(entry.place())),
                    entry.position().toString(),
                    member.endpoints().size(),
                    member.status(),
                    emptiness);
        }
    }

    /**
     * Makes it without sources.
     *
     * @param thread the reload thread
     */
    public EndpointFeeds(Pools pools, EndpointSources sources, ScheduledExecutorService thread) {
        this.updates = new EndpointUpdates(pools, thread);
        this.sources = sources;
        this.group = new SourceGroup<>(this::take, thread, this::onTold);
    }

    /**
     * Makes the sources that a configuration needs, and reads their files.
     *
     * @throws StartException if a file cannot be read or has a mistake
     */
    public Prepared prepare(GatewayConfig config) throws StartException {
        Map<Place, EndpointSource> added = new HashMap<>();
        for (UpstreamConfig upstream : config.upstreams()) {
            for (EndpointConfig entry : upstream.endpoints()) {
                Place place = entry.place();
                if (!place.isAddress() && !group.has(place) && !added.containsKey(place)) {
                    try {
                        added.put(place, sources.of(place));
                    } catch (IOException e) {
                        throw new StartException(entry.position() + ": " + FileFault.message(e), e);
                    }
                }
            }
        }
        return new Prepared(added);
    }

    private EndpointSource take(Place place) {
        return Objects.requireNonNull(prepared.added.get(place), "prepared");
    }

    /**
     * Starts to update the upstreams of a configuration, and stops the sources that it does not need. Waits for the first
     * answers of new sources, but not for long.
     *
     * @param next its upstreams and their entries
     * @param with the sources that were prepared for it
     */
    public void use(Map<Upstream, List<EndpointConfig>> next, Prepared with, long drainTimeoutNanos) {
        drainNanos = drainTimeoutNanos;
        Set<String> former = begun.stream().map(Upstream::name).collect(Collectors.toSet());
        begun.retainAll(next.keySet());
        next.keySet().stream()
                .filter(upstream -> former.contains(upstream.name()))
                .forEach(begun::add);
        entries = next;
        Set<Place> wanted = new HashSet<>();
        next.values().stream()
                .flatMap(List::stream)
                .map(EndpointConfig::place)
                .filter(place -> !place.isAddress())
                .forEach(wanted::add);
        group.refresh();
        prepared = with;
        group.keep(wanted);
        prepared = new Prepared(Map.of());
        // Entries have no endpoints until their source answers.
        FirstAnswers.await(
                group.members().stream().map(SourceGroup.Member::answered).toList(), System.nanoTime());
        given.keySet().retainAll(next.keySet());
        next.forEach(this::update);
        Map<String, List<Watched>> seen = new HashMap<>();
        next.forEach((upstream, of) -> seen.put(upstream.name(), watched(of)));
        watched = Map.copyOf(seen);
        next.keySet().forEach(upstream -> upstream.explainEmptiness(() -> whyEmpty(upstream.name())));
    }

    private String whyEmpty(String upstream) {
        return sources(upstream).stream()
                .filter(state -> state.endpoints() == 0)
                .map(SourceState::whyEmpty)
                .collect(Collectors.joining("; "));
    }

    private List<Watched> watched(List<EndpointConfig> of) {
        List<Watched> found = new ArrayList<>();
        for (EndpointConfig entry : of) {
            SourceGroup.Member member = group.member(entry.place());
            if (member != null) {
                found.add(new Watched(entry, member, sources.emptiness(entry.place())));
            }
        }
        return List.copyOf(found);
    }

    /** Stops all sources. */
    public void stop() {
        entries = Map.of();
        watched = Map.of();
        group.keep(Set.of());
    }

    private void onTold(Place place) {
        entries.forEach((upstream, of) -> {
            if (of.stream().anyMatch(entry -> entry.place().equals(place))) {
                update(upstream, of);
            }
        });
    }

    private void update(Upstream upstream, List<EndpointConfig> of) {
        boolean known = of.stream().allMatch(this::isKnown); // first: a source may answer meanwhile
        List<EndpointSpec> endpoints = new ArrayList<>();
        for (EndpointConfig entry : of) {
            endpoints.addAll(
                    EntryEndpoints.of(entry, group.member(entry.place()), EndpointEntries.source(entry.place())));
        }
        boolean begins = !begun.contains(upstream);
        if (!endpoints.equals(given.put(upstream, endpoints))) {
            updates.update(upstream, endpoints, begins, drainNanos);
        }
        if (begins && known) {
            begun.add(upstream);
        }
    }

    private boolean isKnown(EndpointConfig entry) {
        SourceGroup.Member member = group.member(entry.place());
        return member == null || !member.isProvisional();
    }

    /** Returns the sources of an upstream, in the order of its entries. */
    public List<SourceState> sources(String upstream) {
        List<Watched> of = watched.get(upstream);
        return of == null ? List.of() : of.stream().map(Watched::state).toList();
    }

    /** Returns the problems of files of endpoints, one line each. */
    public List<String> problems() {
        List<String> lines = new ArrayList<>();
        watched.forEach((upstream, of) -> of.stream()
                .filter(each -> each.entry.place().isFile())
                .map(Watched::state)
                .filter(state -> state.status().isStale())
                .forEach(state -> lines.add(state.at() + ": upstream " + upstream + ": keeping the previous endpoints: "
                        + state.status().problem())));
        return lines;
    }
}
