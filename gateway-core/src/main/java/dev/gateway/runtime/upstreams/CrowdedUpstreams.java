package dev.gateway.runtime.upstreams;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.exchange.progress.UpstreamUse;
import dev.gateway.exchange.progress.UpstreamUse.Idler;
import dev.gateway.overload.memory.ClientMemory;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.pool.PoolCounts;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shares crowded upstreams among clients. An upstream is crowded while requests wait for its connections at two reviews in a row,
 * and some wait for long. Then requests of clients that had more than an equal share at both come after those of others, and exchanges
 * that make no progress because of their clients give way: those of the client that has most exchanges there, the longest
 * without progress first. No client loses what is within an equal share, and a client alone loses nothing. One thread
 * reviews it each second.
 */
public final class CrowdedUpstreams {
    private static final Logger log = LoggerFactory.getLogger(CrowdedUpstreams.class);

    /** Stands for all connections that count for no client, such as those of Unix-domain sockets. They lose nothing. */
    private static final Object NO_CLIENT = new Object();

    /** A request that has waited for less may get its connection at any moment. */
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** How long clients with more than their share come after others. Else they would take all again in the next moment. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Loops loops;
    private final Executor thread;
    private final LongSupplier clock; // the one of event loops
    private final Map<Upstream, Long> unfair = new HashMap<>(); // when others last waited for long
    private final Map<Upstream, Set<Object>> muchBefore =
            new HashMap<>(); // who had more than its share at the last look
    private Set<Upstream> crowded = Set.of(); // requests waited for these at the last review
    private CompletableFuture<?> reviewed = CompletableFuture.completedFuture(null);

    /** The event loops. */
    @FunctionalInterface
    public interface Loops {
        /** Asks each event loop which clients use these upstreams. An empty set makes the loops forget the former answers. */
        List<CompletableFuture<Map<Upstream, LoopUse>>> look(Set<Upstream> upstreams);
    }

    /**
     * The use of an upstream on one event loop.
     *
     * @param counts of its connections, and of requests that wait for one
     * @param promised how many of those that wait within the limit will get a connection that is being made
     * @param loop runs what ends exchanges
     */
    public record LoopUse(UpstreamUse exchanges, PoolCounts counts, int promised, Executor loop) {}

    /**
     * Makes it.
     *
     * @param thread the one that calls {@link #review}
     * @param clock the clock of event loops, in nanoseconds
     */
    public CrowdedUpstreams(Loops loops, Executor thread, LongSupplier clock) {
        this.loops = loops;
        this.thread = thread;
        this.clock = clock;
    }

    /** Checks the upstreams, and makes room in those that are crowded. */
    void review(Collection<Upstream> upstreams) {
        if (!reviewed.isDone()) {
            return; // an event loop is slow, and has not ended what it was to end
        }
        long nanos = clock.getAsLong();
        unfair.entrySet().removeIf(each -> isOver(each, nanos));
        Set<Upstream> before = crowded;
        Set<Upstream> now = new HashSet<>(upstreams);
        now.removeIf(each -> each.pendingRequests().taken() == 0);
        crowded = now;
        muchBefore.keySet().removeIf(each -> !now.contains(each) && !unfair.containsKey(each));
        if (now.isEmpty() && before.isEmpty()) {
            return;
        }
        List<CompletableFuture<Map<Upstream, LoopUse>>> answers = loops.look(now);
        reviewed = CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new))
                .thenRunAsync(
                        () -> now.forEach(each -> look(each, uses(answers, each), before.contains(each), nanos)),
                        thread)
                .exceptionally(e -> {
                    log.error("Making room in upstreams {}", now, e);
                    return null;
                });
    }

    private static boolean isOver(Map.Entry<Upstream, Long> unfair, long nanos) {
        boolean over = nanos - unfair.getValue() >= LAST_NANOS;
        if (over) {
            unfair.getKey().pendingRequests().serveLast(Set.of());
        }
        return over;
    }

    private static List<LoopUse> uses(List<CompletableFuture<Map<Upstream, LoopUse>>> answers, Upstream upstream) {
        return answers.stream()
                .map(answer -> Objects.requireNonNull(answer.join().get(upstream)))
                .toList();
    }

    private void look(Upstream upstream, List<LoopUse> loops, boolean again, long nanos) {
        Crowd crowd = Crowd.of(upstream, loops, nanos);
        PoolCounts counts = loops.stream().map(LoopUse::counts).reduce(PoolCounts.NONE, PoolCounts::plus);
        boolean wait = again && counts.pending() > 0; // or they wait for an endpoint that can be reached
        int missing = wait ? crowd.missing() : 0;
        if (missing > 0) {
            unfair.put(upstream, nanos);
        }
        Set<Object> much = crowd.clientsWithMuch();
        Set<Object> before = muchBefore.getOrDefault(upstream, Set.of());
        muchBefore.put(upstream, much);
        if (unfair.containsKey(upstream)) { // who has much at one look only may have had some short requests just then
            upstream.pendingRequests()
                    .serveLast(much.stream().filter(before::contains).collect(Collectors.toSet()));
        }
        int wanted = missing - loops.stream().mapToInt(LoopUse::promised).sum();
        if (wanted > 0) {
            relieve(upstream, loops, crowd, counts, wanted);
        }
    }

    private static void relieve(Upstream upstream, List<LoopUse> loops, Crowd crowd, PoolCounts counts, int wanted) {
        // If requests share connections, room on one event loop is of no use to requests that wait on another one.
        boolean apart = upstream.settings().protocol() != Protocol.HTTP1 && crowd.all() > counts.active();
        List<Idler> ended = new ArrayList<>();
        List<Idler> all = new ArrayList<>();
        for (LoopUse each : loops) {
            List<Idler> here = each.exchanges().idlers().stream()
                    .map(idler -> new Idler(client(idler.client()), idler.quietNanos(), () -> each.loop()
                            .execute(idler.end())))
                    .toList();
            all.addAll(here);
            if (apart) {
                ended.addAll(crowd.choose(
                        here, Math.min(wanted - ended.size(), each.counts().pending())));
            }
        }
        if (!apart) {
            ended.addAll(crowd.choose(all, wanted));
        }
        if (!ended.isEmpty()) {
            ended.forEach(each -> each.end().run());
            log.warn(
                    "upstream {}: requests of {} clients wait for connections: ending {} of {} exchanges without progress."
                            + " They are of {}, with more than an equal share ({}). Limit each client by RateLimit with"
                            + " maxInFlight and key client: true, or raise circuitBreaker.maxConnections",
                    upstream,
                    crowd.waiting().size(),
                    ended.size(),
                    all.size(),
                    names(ended),
                    crowd.share());
        }
    }

    private static String names(List<Idler> ended) {
        Set<Object> clients = new HashSet<>();
        ended.forEach(each -> clients.add(each.client()));
        return clients.size() == 1 ? clients.iterator().next().toString() : clients.size() + " clients";
    }

    private static Object client(Object culprit) {
        return culprit instanceof ClientMemory ? culprit : NO_CLIENT;
    }

    /**
     * The clients of an upstream.
     *
     * @param held how many exchanges of each keep it busy; {@link #choose} takes away what it has chosen
     * @param waiting how many requests of each have waited for long
     * @param all how many exchanges keep it busy
     * @param share how many each of those that hold or wait could have; half for one that is alone at the moment
     */
    private record Crowd(Map<Object, Integer> held, Map<Object, Integer> waiting, int all, int share) {
        static Crowd of(Upstream upstream, List<LoopUse> loops, long nanos) {
            Map<Object, Integer> held = new HashMap<>();
            loops.forEach(each -> each.exchanges()
                    .clients()
                    .forEach((client, count) -> held.merge(client(client), count, Integer::sum)));
            Map<Object, Integer> waiting = new HashMap<>();
            upstream.pendingRequests().waitingSince(nanos - longNanos(upstream)).forEach((client, count) -> {
                if (client instanceof ClientMemory || client instanceof ConnectionInfo) { // else the gateway's own
                    waiting.merge(client(client), count, Integer::sum);
                }
            });
            Set<Object> clients = new HashSet<>(held.keySet());
            clients.addAll(waiting.keySet());
            int all = held.values().stream().mapToInt(Integer::intValue).sum();
            return new Crowd(held, waiting, all, Math.max(1, all / Math.max(2, clients.size())));
        }

        private static long longNanos(Upstream upstream) {
            long most = TimeUnit.MILLISECONDS.toNanos(upstream.settings().poolAcquireMillis());
            return most > 0 ? Math.min(most / 2, LONG_NANOS) : LONG_NANOS; // or nobody would wait for long
        }

        /** Returns who has more than its share. */
        Set<Object> clientsWithMuch() {
            Set<Object> much = new HashSet<>(held.keySet());
            much.removeIf(each -> each == NO_CLIENT || held.getOrDefault(each, 0) <= share);
            return much;
        }

        /** Returns how many connections, or streams, those who wait lack to get up to their share. */
        int missing() {
            int missing = 0;
            for (Map.Entry<Object, Integer> each : waiting.entrySet()) {
                int toShare = share - held.getOrDefault(each.getKey(), 0);
                missing += Math.max(0, Math.min(each.getValue(), toShare));
            }
            return missing;
        }

        /** Chooses exchanges of those who have most. */
        List<Idler> choose(List<Idler> idlers, int wanted) {
            Map<Object, Deque<Idler>> byClient = new HashMap<>();
            idlers.stream()
                    .filter(each -> each.client() != NO_CLIENT)
                    .sorted(Comparator.comparingLong(Idler::quietNanos))
                    .forEach(each -> byClient.computeIfAbsent(each.client(), client -> new ArrayDeque<>())
                            .addFirst(each));
            PriorityQueue<Object> most =
                    new PriorityQueue<>(Comparator.comparingInt((Object client) -> held.getOrDefault(client, 0))
                            .reversed());
            most.addAll(byClient.keySet());
            List<Idler> chosen = new ArrayList<>();
            while (chosen.size() < wanted && !most.isEmpty()) {
                Object client = most.poll();
                Deque<Idler> left = Objects.requireNonNull(byClient.get(client));
                if (held.getOrDefault(client, 0) > share && !left.isEmpty()) {
                    chosen.add(left.remove());
                    held.merge(client, -1, Integer::sum); // while the queue does not have the client
                    most.add(client);
                }
            }
            return chosen;
        }
    }
}
