package dev.gateway.filter.jwt.jwks;

import dev.gateway.format.crypto.JwkSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Those who wait for the end of a fetch. Bounded; one client never takes all places. Confined to one event loop. */
final class KeyWaiters {
    static final int MOST = 1024;

    private final Map<Object, Integer> waitingOf = new HashMap<>(); // by client
    private List<Waiter> waiting = new ArrayList<>();

    private record Waiter(JwkSet seen, Consumer<RenewalOutcome> then) {}

    void add(Object client, JwkSet seen, Consumer<RenewalOutcome> then) {
        if (waiting.size() == MOST || waitingOf.getOrDefault(client, 0) == MOST / 2) {
            then.accept(RenewalOutcome.TOO_MANY);
            return;
        }
        waitingOf.merge(client, 1, Integer::sum);
        waiting.add(new Waiter(seen, then));
    }

    /**
     * Tells all of them which keys there are now.
     *
     * @param failed whether nobody knows whether these are the last ones
     */
    void tell(JwkSet now, boolean failed) {
        List<Waiter> told = waiting;
        waiting = new ArrayList<>();
        waitingOf.clear();
        for (Waiter each : told) {
            boolean isOther = !now.isEmpty() && !each.seen.equals(now);
            each.then.accept(isOther ? RenewalOutcome.CHANGED : failed ? RenewalOutcome.FAILED : RenewalOutcome.SAME);
        }
    }
}
