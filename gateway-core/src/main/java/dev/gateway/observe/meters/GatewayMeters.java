package dev.gateway.observe.meters;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Meter binder: shows a gateway's metrics in meter registries of the application that embeds it. A Prometheus registry gets
 * what {@code /metrics} has, read at each scrape. Any other registry gets function meters, which are refreshed every five
 * seconds. A composite registry gets nothing itself: its members do, also those that are added later. JVM meters are the
 * application's own business.
 *
 * <p><b>Life cycle.</b> A registry takes the meters of one gateway. Binding it to the same gateway again does nothing.
 * Closing the gateway removes its meters from every registry, which then refers to nothing of the gateway; another gateway
 * may take the registry. A push registry does not publish what was counted since it last published.
 *
 * <p><b>Threading.</b> Safe from any thread but event loops, which do nothing for this. The gateway's housekeeping thread
 * refreshes, and so calls filters and listeners of the registry: they must not block.
 */
public final class GatewayMeters implements MeterBinder, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(GatewayMeters.class);
    private static final long PERIOD_SECONDS = 5;

    /** Registries that have the meters of some gateway of this process. */
    private static final Set<MeterRegistry> TAKEN =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private final MultiCollector source;
    private final Supplier<ConfiguredNames> configured;
    private final boolean withBuckets;
    private final LongSupplier nanoTime;
    private final IdentityHashMap<MeterRegistry, BoundMeters> bound = new IdentityHashMap<>();
    private final Set<MeterRegistry> wanted = identitySet(); // that were bound by themselves, composites among them
    private final Set<MeterRegistry> refused = identitySet(); // members of composites
    private boolean closed;

    /**
     * Makes it, bound to nothing.
     *
     * @param source the gateway's metrics as {@code /metrics} tells them, read on any thread
     * @param configured names in the active configuration
     * @param withBuckets whether function meters include a counter for each bucket of a histogram
     */
    public GatewayMeters(MultiCollector source, Supplier<ConfiguredNames> configured, boolean withBuckets) {
        this(source, configured, withBuckets, System::nanoTime);
    }

    GatewayMeters(
            MultiCollector source, Supplier<ConfiguredNames> configured, boolean withBuckets, LongSupplier nanoTime) {
        this.source = source;
        this.configured = configured;
        this.withBuckets = withBuckets;
        this.nanoTime = nanoTime;
    }

    private static Set<MeterRegistry> identitySet() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }

    /**
     * Adds the gateway's meters to a registry, with what was counted until now. Does nothing if they are there.
     *
     * @throws IllegalStateException if the registry has the meters of another gateway, or this one is closed
     */
    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        if (closed) {
            throw new IllegalStateException("the gateway is closed");
        }
        if (!(registry instanceof CompositeMeterRegistry) && !bound.containsKey(registry) && !bind(registry)) {
            throw new IllegalStateException("the registry has the meters of another gateway");
        }
        wanted.add(registry);
        refresh();
    }

    /** Refreshes function meters on that executor from now on, until it ends. */
    public void refreshOn(ScheduledExecutorService executor) {
        executor.scheduleWithFixedDelay(this::refresh, PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
    }

    synchronized void refresh() {
        if (closed || wanted.isEmpty()) {
            return;
        }
        followComposites();
        List<FunctionMeters> functions = bound.values().stream()
                .filter(FunctionMeters.class::isInstance)
                .map(FunctionMeters.class::cast)
                .toList();
        if (!functions.isEmpty()) {
            MetricSnapshots snapshots = source.collect();
            ConfiguredNames names = configured.get();
            functions.forEach(each -> each.refresh(snapshots, names));
        }
    }

    /** Binds the members that composites have now, and no others. */
    private void followComposites() {
        wanted.removeIf(MeterRegistry::isClosed);
        Set<MeterRegistry> members = identitySet();
        wanted.forEach(registry -> addMembers(registry, members));
        for (MeterRegistry former : new HashSet<>(bound.keySet())) {
            if (!members.contains(former)) {
                unbind(former);
            }
        }
        refused.retainAll(members);
        for (MeterRegistry member : members) {
            if (!bound.containsKey(member) && !bind(member) && refused.add(member)) {
                log.warn(
                        "{} has the meters of another gateway; this one's are left out",
                        member.getClass().getName());
            }
        }
    }

    private static void addMembers(MeterRegistry registry, Set<MeterRegistry> members) {
        if (registry instanceof CompositeMeterRegistry composite) {
            composite.getRegistries().forEach(each -> addMembers(each, members));
        } else if (!registry.isClosed()) {
            members.add(registry);
        }
    }

    private boolean bind(MeterRegistry registry) {
        if (!TAKEN.add(registry)) {
            return false;
        }
        bound.put(
                registry,
                registry instanceof PrometheusMeterRegistry prometheus
                        ? PrometheusMeters.add(prometheus, source)
                        : new FunctionMeters(registry, withBuckets, nanoTime));
        return true;
    }

    private void unbind(MeterRegistry registry) {
        BoundMeters meters = bound.remove(registry);
        if (meters != null) {
            meters.remove();
            TAKEN.remove(registry);
        }
    }

    /** Removes the meters from all registries, for ever. */
    @Override
    public synchronized void close() {
        closed = true;
        new HashSet<>(bound.keySet()).forEach(this::unbind);
        wanted.clear();
        refused.clear();
    }
}
