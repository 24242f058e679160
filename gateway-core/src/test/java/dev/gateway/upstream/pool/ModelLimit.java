package dev.gateway.upstream.pool;

import dev.gateway.upstream.Host;
import dev.gateway.upstream.limit.Share;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A model of a limit that is divided among endpoints: how many of something there may be. Each chosen endpoint has its share
 * by weight, at least one; the rest is for all, also for what requests name. What others have does not count.
 */
final class ModelLimit {
    private final int max; // 0 for none
    private final Host named;
    private final Function<Host, Share> part;
    private final Map<Host, Integer> kept = new HashMap<>();
    private int rest;
    private int allowed; // beyond the limit

    ModelLimit(int max, Host named, Function<Host, Share> part) {
        this.max = max;
        this.named = named;
        this.part = part;
    }

    /** These endpoints are chosen from here on; who has more than its share by now keeps it. */
    void divide(List<Host> chosen) {
        double weights = chosen.stream().mapToDouble(Host::weight).sum();
        kept.clear();
        rest = max;
        for (Host host : chosen) {
            int share = max < chosen.size() ? 0 : 1 + (int) ((max - chosen.size()) * host.weight() / weights);
            kept.put(host, share);
            rest -= share;
        }
        allowed = Math.max(0, excess());
    }

    /** There may be one more than the limit says. */
    void allowOneBeyond() {
        allowed++;
    }

    private int excess() {
        int fromRest = part.apply(named).taken();
        for (Map.Entry<Host, Integer> each : kept.entrySet()) {
            fromRest += Math.max(0, part.apply(each.getKey()).taken() - each.getValue());
        }
        return fromRest - rest;
    }

    /** Whether there are more than there may be. What was allowed beyond the limit and is given back is not allowed again. */
    boolean isBroken() {
        if (max == 0) {
            return false;
        }
        int excess = excess();
        boolean broken = excess > allowed;
        allowed = Math.max(0, Math.min(allowed, excess));
        return broken;
    }

    @Override
    public String toString() {
        return "at most " + max + ", kept " + kept + ", for all " + rest + ", beyond " + excess() + " of " + allowed;
    }
}
