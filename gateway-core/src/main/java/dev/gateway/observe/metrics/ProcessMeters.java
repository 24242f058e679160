package dev.gateway.observe.metrics;

import dev.gateway.observe.accesslog.AccessLog;
import dev.gateway.observe.metrics.state.CertificateExpiry;
import dev.gateway.observe.metrics.state.Denials;
import dev.gateway.observe.metrics.state.ListenerFeatures;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.overload.Action;
import dev.gateway.overload.Overload;
import dev.gateway.overload.Pressure;
import dev.gateway.overload.Resource;
import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.overload.memory.MemoryBudget;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Counters of the process as a whole, and values that it reads from others on request. Safe from any thread. */
final class ProcessMeters implements Exposition.Source {
    final String version;
    final AtomicLong generation = new AtomicLong();
    final AtomicLong draining = new AtomicLong();
    final AtomicLong earlierHeld = new AtomicLong();
    final AtomicLong earlierMost = new AtomicLong();
    final AtomicLong reloadsSucceeded = new AtomicLong();
    final AtomicLong reloadsFailed = new AtomicLong();

    /** Whether the last reload failed, so that the active configuration differs from the file. */
    volatile boolean lastReloadFailed;

    private final Map<String, AtomicLong> ejections = new ConcurrentHashMap<>(); // by upstream
    final List<AccessLog> accessLogs = new CopyOnWriteArrayList<>();
    final List<Consumer<Denials>> policies = new CopyOnWriteArrayList<>();
    volatile IntSupplier staleNames = () -> 0;
    volatile LongSupplier earlyLookups = () -> 0;
    volatile @Nullable Overload overload;
    volatile @Nullable MemoryBudget budget;
    volatile @Nullable MemoryBudget waitingBodies;
    volatile LongSupplier directHeld = () -> 0;
    volatile LongSupplier cachesHeld = () -> 0;
    volatile LongSupplier droppedLog = () -> 0;
    volatile IntSupplier faultyAccountFiles = () -> 0;
    volatile BooleanSupplier exportsSpans = () -> false;
    volatile LongSupplier droppedSpans = () -> 0;
    volatile BooleanSupplier exportsMetrics = () -> false;
    volatile LongSupplier exportsSucceeded = () -> 0;
    volatile LongSupplier exportsFailed = () -> 0;
    volatile Supplier<List<CertificateExpiry>> certificates = List::of;
    volatile Supplier<ListenerFeatures> listenerFeatures = () -> ListenerFeatures.NONE;
    volatile Supplier<List<UpstreamState>> upstreams = List::of;

    ProcessMeters(String version) {
        this.version = version;
    }

    void onEjected(String upstream) {
        ejections.computeIfAbsent(upstream, name -> new AtomicLong()).incrementAndGet();
    }

    private long ejections(String upstream) {
        AtomicLong count = ejections.get(upstream);
        return count == null ? 0 : count.get();
    }

    long accessLogDropped() {
        return accessLogs.stream().mapToLong(AccessLog::dropped).sum();
    }

    static String javaVersion() {
        return Integer.toString(Runtime.version().feature());
    }

    static long directMemoryUsed() {
        return DirectMemory.used();
    }

    static long directMemoryMax() {
        return DirectMemory.max();
    }

    @Override
    public void addTo(Exposition out) {
        out.gauge("gateway_config_generation", "Number of the active generation.", generation.get());
        out.gauge(
                "gateway_config_generations_draining",
                "Earlier generations whose last exchange has not ended.",
                draining.get());
        out.gauge(
                "gateway_config_generations_held_bytes",
                "Heap that earlier generations hold after their time to drain, by an estimate.",
                earlierHeld.get());
        out.gauge(
                "gateway_config_generations_max_bytes",
                "Heap that earlier generations may hold after their time to drain.",
                earlierMost.get());
        String reloads = "gateway_config_reloads";
        out.counter(reloads, "Reloads tried.", reloadsSucceeded.get(), "result", "success");
        out.counter(reloads, "Reloads tried.", reloadsFailed.get(), "result", "failure");
        out.info("gateway_build", "The build, as labels.", "version", version, "java", javaVersion());
        out.gauge("gateway_direct_memory_used_bytes", "Direct memory that buffers take.", directMemoryUsed());
        out.gauge("gateway_direct_memory_max_bytes", "Direct memory that buffers may take.", directMemoryMax());
        out.gauge(
                "gateway_auth_files_stale",
                "Files of users, tokens, groups, filters or session keys that cannot be read, or have invalid lines, and keys"
                        + " that cannot be fetched.",
                faultyAccountFiles.getAsInt());
        out.gauge(
                "gateway_dns_stale_names",
                "Names of upstreams whose last known addresses stay in use while DNS fails.",
                staleNames.getAsInt());
        out.counter(
                "gateway_dns_early_lookups",
                "Lookups of names before their TTL was over: after a failed connection, a change of the hosts file, or a reload.",
                earlyLookups.getAsLong());
        out.counter(
                "gateway_direct_memory_pauses",
                "Times that reading paused early: the receiver was slow and direct memory was short.",
                DirectMemory.pauses());
        out.counter(
                "gateway_direct_memory_cuts",
                "Exchanges and streams ended for lack of direct memory, because their receiver did not read.",
                DirectMemory.cuts());
        out.counter(
                "gateway_direct_memory_failures",
                "Connections ended because no direct memory was left.",
                DirectMemory.failures());
        out.counter(
                "gateway_accesslog_dropped",
                "Lines of the access log that could not be written in time.",
                accessLogDropped());
        out.counter(
                "gateway_log_dropped",
                "Lines of the process's own log that were dropped because the reader of standard error was too slow.",
                droppedLog.getAsLong());
        exports(out);
        overload(out);
        policies.forEach(policy -> policy.accept((listener, rule, count) -> out.counter(
                "gateway_connect_denied",
                "Requests to other hosts that a rule has refused.",
                count,
                "listener",
                listener,
                "rule",
                rule)));
        certificates(out);
        for (UpstreamState upstream : upstreams.get()) {
            endpointsByState(upstream)
                    .forEach((state, count) -> out.gauge(
                            "gateway_upstream_endpoints",
                            "Endpoints of the active generation.",
                            count,
                            "upstream",
                            upstream.name(),
                            "state",
                            state));
            staleSources(upstream)
                    .forEach((kind, count) -> out.gauge(
                            "gateway_upstream_sources_stale",
                            "Sources of endpoints that fail, so that what they told last stays in use.",
                            count,
                            "upstream",
                            upstream.name(),
                            "source",
                            kind));
            Double localShare = upstream.localShare();
            if (localShare != null) {
                out.gauge(
                        "gateway_upstream_local_zone_share",
                        "Share of requests that stay in the zone of the gateway, from 0 to 1.",
                        localShare,
                        "upstream",
                        upstream.name());
            }
            if (!upstream.namedByRequests()) {
                out.gauge(
                        "gateway_upstream_panic",
                        "Whether all endpoints get requests because too few are in service.",
                        upstream.panic() ? 1 : 0,
                        "upstream",
                        upstream.name());
                out.counter(
                        "gateway_upstream_ejections",
                        "Endpoints taken out of service for having failed too often.",
                        ejections(upstream.name()),
                        "upstream",
                        upstream.name());
            }
        }
    }

    /** Adds what is exported now, and what has been counted while it was. */
    private void exports(Exposition out) {
        long dropped = droppedSpans.getAsLong();
        if (exportsSpans.getAsBoolean() || dropped > 0) {
            out.counter("gateway_tracing_spans_dropped", "Spans that could not be exported in time.", dropped);
        }
        long succeeded = exportsSucceeded.getAsLong();
        long failed = exportsFailed.getAsLong();
        if (exportsMetrics.getAsBoolean() || succeeded + failed > 0) {
            String exports = "gateway_metrics_exports";
            String help = "Exports of all metrics tried.";
            out.counter(exports, help, succeeded, "result", "success");
            out.counter(exports, help, failed, "result", "failure");
        }
    }

    private void overload(Exposition out) {
        MemoryBudget memory = budget;
        if (memory != null) {
            out.gauge(
                    "gateway_client_heap_used_bytes",
                    "Heap charged for connections and requests of clients.",
                    memory.granted());
            out.gauge(
                    "gateway_client_heap_max_bytes",
                    "Heap that connections and requests of clients may take.",
                    memory.capacity());
        }
        MemoryBudget bodies = waitingBodies;
        if (bodies != null) {
            out.gauge(
                    "gateway_waiting_bodies_used_bytes",
                    "Direct memory charged for bodies of requests that wait for an upstream or an inspector, or are"
                            + " kept for another attempt.",
                    bodies.granted());
            out.gauge(
                    "gateway_waiting_bodies_max_bytes",
                    "Direct memory that bodies of requests that wait may take.",
                    bodies.capacity());
        }
        Overload watched = overload;
        if (watched == null) {
            return;
        }
        out.gauge(
                "gateway_overload_state",
                "What is refused: 0 nothing, 1 new connections, 2 new requests, too.",
                watched.refusing().level());
        for (Pressure source : watched.sources()) {
            out.gauge(
                    "gateway_overload_pressure",
                    "Which part of a resource was in use at the last look.",
                    watched.level(source),
                    "resource",
                    source.resource().label());
        }
        for (Resource resource : Resource.values()) {
            for (Action action : Action.values()) {
                out.counter(
                        "gateway_overload_actions",
                        "What was done because a resource was short.",
                        watched.actions().count(action, resource),
                        "resource",
                        resource.label(),
                        "action",
                        action.label());
            }
        }
    }

    private static Map<String, Long> endpointsByState(UpstreamState upstream) {
        Map<String, Long> counts = new TreeMap<>();
        if (upstream.namedByRequests()) {
            return counts;
        }
        UpstreamState.STATES.forEach(state -> counts.put(state, 0L)); // for those who watch one that is rare
        upstream.endpoints().forEach(endpoint -> counts.merge(endpoint.state(), 1L, Long::sum));
        return counts;
    }

    private static Map<String, Long> staleSources(UpstreamState upstream) {
        Map<String, Long> counts = new TreeMap<>();
        upstream.sources().forEach(source -> counts.merge(source.kind(), source.isStale() ? 1L : 0L, Long::sum));
        return counts;
    }

    private void certificates(Exposition out) {
        certificates.get().stream()
                // Of two with the same name, such as one of RSA and one of ECDSA, the one that ends first counts.
                .collect(Collectors.toMap(
                        each -> List.of(each.kind(), each.owner(), each.name()),
                        CertificateExpiry::notAfterSeconds,
                        Math::min))
                .forEach((labels, end) -> out.gauge(
                        "gateway_certificate_not_after_seconds",
                        "When a certificate ends, in seconds since 1970.",
                        end,
                        labels.get(0),
                        labels.get(1),
                        "name",
                        labels.get(2)));
    }
}
