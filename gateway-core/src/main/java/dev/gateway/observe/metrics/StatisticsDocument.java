package dev.gateway.observe.metrics;

import dev.gateway.format.JsonText;
import dev.gateway.observe.counts.Histogram;
import dev.gateway.observe.metrics.ConnectionMeters.Count;
import dev.gateway.overload.Action;
import dev.gateway.overload.Overload;
import dev.gateway.overload.Resource;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.HttpVersion;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.ToLongFunction;

/**
 * The statistics as one JSON document, for dashboards that read it each second. Whatever it counts only grows, so that
 * readers take differences and do not disturb each other; what is of now or of the last seconds is named so. The operator's
 * guide describes the members, which may become more.
 */
final class StatisticsDocument {
    private final Statistics statistics;
    private final ProcessMeters process;
    private final Attention attention;
    private final JsonText json = new JsonText();

    StatisticsDocument(Statistics statistics, ProcessMeters process, Attention attention) {
        this.attention = attention;
        this.statistics = statistics;
        this.process = process;
    }

    String write() {
        json.object();
        json.put("schema", 1);
        json.put("time", System.currentTimeMillis());
        json.put("uptimeSeconds", statistics.uptimeSeconds());
        json.object("build")
                .put("version", process.version)
                .put("java", ProcessMeters.javaVersion())
                .endObject();
        json.object("config")
                .put("generation", process.generation.get())
                .put("generationsDraining", process.draining.get())
                .put("reloadsSucceeded", process.reloadsSucceeded.get())
                .put("reloadsFailed", process.reloadsFailed.get())
                .put("lastReloadFailed", process.lastReloadFailed)
                .endObject();
        json.array("attention");
        attention.findings().forEach(each -> json.object()
                .put("level", each.level().label())
                .put("text", each.text())
                .endObject());
        json.endArray();
        totals();
        RecentRequests.Window window = statistics.recent();
        json.put("latencyBoundsSeconds", Histogram.Buckets.REQUEST.seconds());
        json.put("recentSeconds", window.seconds());
        RecentStatistics.of(window.ofAll()).write(json, "recent");
        new ListenerStatistics(statistics.loops(), process.policies, window, json).write();
        new UpstreamStatistics(statistics.loops(), process.upstreams.get(), window, json).write();
        json.object("h2");
        http2("downstream", meters -> meters.listeners().values());
        http2("upstream", meters -> meters.upstreams().values());
        json.endObject();
        eventLoops();
        memory();
        overload();
        json.array("certificates");
        process.certificates.get().forEach(each -> json.object()
                .put(each.kind(), each.owner())
                .put("name", each.name())
                .put("notAfterSeconds", each.notAfterSeconds())
                .endObject());
        json.endArray();
        json.put("authFilesStale", process.faultyAccountFiles.getAsInt());
        json.object("accessLog").put("dropped", process.accessLogDropped()).endObject();
        return json.endObject() + "\n";
    }

    private void totals() {
        json.object("totals");
        statistics.values().forEach((name, value) -> {
            if (value instanceof Double number) {
                json.put(name, number.doubleValue());
            } else {
                json.put(name, value.longValue());
            }
        });
        json.endObject();
    }

    private interface Side {
        Iterable<? extends ConnectionMeters> of(LoopMetrics loop);
    }

    @SuppressWarnings("EnumOrdinal")
    private void http2(String name, Side side) {
        long[] counts = new long[Count.values().length];
        for (LoopMetrics loop : statistics.loops()) {
            for (ConnectionMeters meters : side.of(loop)) {
                for (Count count : Count.values()) {
                    counts[count.ordinal()] += meters.get(count);
                }
            }
        }
        ToLongFunction<Count> of = count -> counts[count.ordinal()];
        long streams = of.applyAsLong(Count.H2_STREAMS_OPENED);
        json.object(name)
                .put("streams", streams)
                .put("streamsActive", streams - of.applyAsLong(Count.H2_STREAMS_CLOSED))
                .put("flushes", of.applyAsLong(Count.H2_FLUSHES))
                .put("flowControlPauses", of.applyAsLong(Count.H2_FLOW_CONTROL_PAUSES));
        bothWays("frames", of, Count.H2_FRAMES_RECEIVED, Count.H2_FRAMES_SENT);
        bothWays("frameBytes", of, Count.H2_FRAME_BYTES_RECEIVED, Count.H2_FRAME_BYTES_SENT);
        bothWays("resets", of, Count.H2_RESETS_RECEIVED, Count.H2_RESETS_SENT);
        bothWays("goaways", of, Count.H2_GOAWAYS_RECEIVED, Count.H2_GOAWAYS_SENT);
        bothWays("pings", of, Count.H2_PINGS_RECEIVED, Count.H2_PINGS_SENT);
        bothWays("windowUpdates", of, Count.H2_WINDOW_UPDATES_RECEIVED, Count.H2_WINDOW_UPDATES_SENT);
        json.endObject();
    }

    private void bothWays(String name, ToLongFunction<Count> of, Count received, Count sent) {
        json.object(name)
                .put("received", of.applyAsLong(received))
                .put("sent", of.applyAsLong(sent))
                .endObject();
    }

    private void eventLoops() {
        json.array("eventLoops");
        int index = 0;
        for (LoopMetrics loop : statistics.loops()) {
            long connections = 0;
            long exchanges = 0;
            for (ListenerMeters listener : loop.listeners().values()) {
                connections += Arrays.stream(HttpVersion.values())
                        .mapToLong(version -> listener.active(version, false) + listener.active(version, true))
                        .sum();
                exchanges += listener.requestsActive();
            }
            json.object()
                    .put("loop", index++)
                    .put("lagSeconds", loop.lag().seconds())
                    .put("pendingTasks", loop.lag().pendingTasks())
                    .put("connections", connections)
                    .put("exchanges", exchanges)
                    .endObject();
        }
        json.endArray();
    }

    private void overload() {
        MemoryBudget budget = process.budget;
        MemoryBudget bodies = process.waitingBodies;
        Overload overload = process.overload;
        if (budget == null || bodies == null || overload == null) {
            return;
        }
        long shed = 0;
        for (LoopMetrics loop : statistics.loops()) {
            for (ListenerMeters listener : loop.listeners().values()) {
                shed += listener.get(Count.SHED);
            }
        }
        json.object("overload")
                .put("refusing", overload.refusing().name().toLowerCase(Locale.ROOT))
                .put("connectionsShed", shed)
                .put("clientHeapUsedBytes", budget.granted())
                .put("clientHeapMaxBytes", budget.capacity())
                .put("cachesUsedBytes", process.cachesHeld.getAsLong())
                .put("waitingBodiesUsedBytes", bodies.granted())
                .put("waitingBodiesMaxBytes", bodies.capacity())
                .object("pressure");
        overload.sources().forEach(source -> json.put(source.resource().label(), overload.level(source)));
        json.endObject().put("endsKeepAlive", overload.endsKeepAlive()).object("actions");
        for (Resource resource : Resource.values()) {
            for (Action action : Action.values()) {
                long count = overload.actions().count(action, resource);
                if (count > 0) {
                    json.put(resource.label() + "." + action.label(), count);
                }
            }
        }
        json.endObject().endObject();
    }

    private void memory() {
        Runtime runtime = Runtime.getRuntime();
        json.object("memory")
                .put("heapUsedBytes", runtime.totalMemory() - runtime.freeMemory())
                .put("heapMaxBytes", runtime.maxMemory())
                .put("directUsedBytes", ProcessMeters.directMemoryUsed())
                .put("directHeldBytes", process.directHeld.getAsLong())
                .put("directMaxBytes", ProcessMeters.directMemoryMax())
                .endObject();
    }
}
