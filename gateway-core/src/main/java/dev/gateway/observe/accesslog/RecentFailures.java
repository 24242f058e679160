package dev.gateway.observe.accesslog;

import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.counts.Counts;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Ring buffers of recent failures. The last failed exchanges of one event loop: fifty caused by the gateway or an
 * upstream, and fifty caused by clients, so that a scan for paths that do not exist does not push out what matters. The
 * loop adds, any thread reads. Of more than fifty in a second the rest is only counted. Takes at most 200 KB.
 */
public final class RecentFailures {
    /** How many of each kind are kept. */
    static final int KEPT = 50;

    private static final int MOST_A_SECOND = 50;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final VarHandle PLACE = MethodHandles.arrayElementVarHandle(FailedExchange[].class);

    private final @Nullable FailedExchange[] own = new @Nullable FailedExchange[KEPT];
    private final @Nullable FailedExchange[] ofClients = new @Nullable FailedExchange[KEPT];
    private final Counts leftOut = new Counts(1);
    // Of the loop only.
    private int nextOwn;
    private int nextOfClients;
    private long sinceNanos;
    private int inSecond;

    /** Keeps a copy of an exchange that has failed; on the loop. */
    void add(ExchangeRecord exchange, Redaction redaction) {
        if (exchange.endNanos - sinceNanos >= SECOND) {
            sinceNanos = exchange.endNanos;
            inSecond = 0;
        }
        if (++inSecond > MOST_A_SECOND) {
            leftOut.add(0, 1);
            return;
        }
        FailedExchange failed = FailedExchange.of(exchange, redaction);
        if (failed.isOfClient()) {
            PLACE.setRelease(ofClients, nextOfClients++ % KEPT, failed);
        } else {
            PLACE.setRelease(own, nextOwn++ % KEPT, failed);
        }
    }

    /** Returns how many were only counted. */
    public long leftOut() {
        return leftOut.get(0);
    }

    /** Returns the last ones of all event loops, latest first, at most fifty of each kind. */
    public static List<FailedExchange> latest(List<RecentFailures> loops) {
        List<FailedExchange> own = new ArrayList<>();
        List<FailedExchange> ofClients = new ArrayList<>();
        for (RecentFailures loop : loops) {
            loop.copy(loop.own, own);
            loop.copy(loop.ofClients, ofClients);
        }
        Comparator<FailedExchange> latestFirst =
                Comparator.comparingLong(FailedExchange::endMillis).reversed();
        return Stream.of(own, ofClients)
                .flatMap(kind -> kind.stream().sorted(latestFirst).limit(KEPT))
                .sorted(latestFirst)
                .toList();
    }

    private void copy(@Nullable FailedExchange[] ring, List<FailedExchange> to) {
        for (int i = 0; i < KEPT; i++) {
            FailedExchange each = (FailedExchange) PLACE.getAcquire(ring, i);
            if (each != null) {
                to.add(each);
            }
        }
    }
}
