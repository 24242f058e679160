package dev.gateway.exchange.route;

import dev.gateway.message.RequestHead;
import dev.gateway.stream.Identity;
import dev.gateway.upstream.SessionPersistence;
import dev.gateway.upstream.Upstream;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Weighted traffic split. Spreads requests over upstreams by weight: in the long run exactly, and evenly at every scale,
 * for the choices follow a sequence of low discrepancy (multiples of the golden ratio) and not chance. Shared by all event
 * loops without a lock.
 */
public final class WeightedTarget implements Route.Target {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L; // 2^64 divided by the golden ratio

    private final Upstream[] upstreams;
    private final long[] ends; // cumulative weights
    private final AtomicLong count = new AtomicLong();

    /** An upstream and its share; weight 0 gets nothing. */
    public record Weighted(Upstream upstream, int weight) {}

    private WeightedTarget(List<Weighted> weighted) {
        upstreams = new Upstream[weighted.size()];
        ends = new long[weighted.size()];
        long end = 0;
        for (int i = 0; i < ends.length; i++) {
            upstreams[i] = weighted.get(i).upstream;
            end += weighted.get(i).weight;
            ends[i] = end;
        }
    }

    /**
     * Makes the target of these upstreams.
     *
     * @throws IllegalArgumentException if a weight is negative, or all are 0 (a rule that is then answered by 500, says
     *     the Gateway API, and so has no target)
     */
    public static Route.Target of(List<Weighted> weighted) {
        if (weighted.stream().anyMatch(w -> w.weight < 0)) {
            throw new IllegalArgumentException("negative weight");
        }
        List<Weighted> taking = weighted.stream().filter(w -> w.weight > 0).toList();
        if (taking.isEmpty()) {
            throw new IllegalArgumentException("no upstream with a weight above 0");
        }
        Upstream only = taking.get(0).upstream;
        Route.Target target = taking.size() == 1 ? client -> only : new WeightedTarget(taking);
        boolean sticky = weighted.size() > 1 && weighted.stream().anyMatch(w -> w.upstream.sessions() != null);
        return sticky ? new SessionsFirst(List.copyOf(weighted), target) : target;
    }

    /** Leaves requests with a session at the upstream that the weights gave first, also if its weight is 0 now. */
    private record SessionsFirst(List<Weighted> all, Route.Target others) implements Route.Target {
        @Override
        public Upstream choose(@Nullable Identity client) {
            return others.choose(client);
        }

        @Override
        public Upstream choose(@Nullable Identity client, RequestHead head) {
            for (Weighted each : all) {
                SessionPersistence sessions = each.upstream.sessions();
                if (sessions != null && sessions.continues(head.fields(), each.weight == 0)) {
                    return each.upstream;
                }
            }
            return others.choose(client);
        }
    }

    @Override
    public Upstream choose(@Nullable Identity client) {
        long fraction = count.getAndIncrement() * GOLDEN;
        long point = Math.multiplyHigh(fraction >>> 1, ends[ends.length - 1] << 1);
        int i = 0;
        while (point >= ends[i]) {
            i++;
        }
        return upstreams[i];
    }
}
