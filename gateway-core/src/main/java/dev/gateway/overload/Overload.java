package dev.gateway.overload;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Overload manager. Whether the process has so little left of something that it gives up connections that are kept open,
 * refuses new connections, and then requests, too. One thread {@link #review reviews} the pressure; event loops ask, which
 * is one read. What was refused may come again as soon as there is some room more than when refusing began.
 */
public final class Overload {
    private static final Logger log = LoggerFactory.getLogger(Overload.class);

    /** So much below the limit of a resource, connections do not stay open for what their clients may ask next. */
    static final double KEEP_ALIVE = -0.05;

    /** So much above the limit, requests are refused, and not only connections. */
    static final double REQUESTS = 0.07;

    /** Each ends this much below where it began, so that they do not come and go all the time. */
    static final double CALM = 0.05;

    /** Levels are sums and differences, and exactly at a limit nothing is refused. */
    static final double EXACT = 1e-9;

    private final List<Watched> sources = new CopyOnWriteArrayList<>();
    private final Actions actions = new Actions();
    private volatile OverloadSettings settings = OverloadSettings.DEFAULT;
    private volatile Refusing refusing = Refusing.NOTHING;
    private volatile boolean endsKeepAlive;
    private volatile Resource refusedFor = Resource.HEAP; // what work was refused for last
    private volatile Resource closedFor = Resource.HEAP; // what connections were given up for last

    private static final class Watched {
        final Pressure source;
        volatile double level;

        Watched(Pressure source) {
            this.source = source;
        }
    }

    /** What is refused. */
    public enum Refusing {
        /** There is enough of everything. */
        NOTHING(0),
        /** New connections. */
        CONNECTIONS(1),
        /** New connections, and requests on those there are. */
        REQUESTS(2);

        private final int level;

        Refusing(int level) {
            this.level = level;
        }

        /** Returns a number for metrics, which grows with what is refused. */
        public int level() {
            return level;
        }
    }

    /** Looks at something more from the next review on. */
    public void watch(Pressure source) {
        source.configure(settings);
        sources.add(new Watched(source));
    }

    /** Other settings hold from the next review on. */
    public void configure(OverloadSettings next) {
        settings = next;
        sources.forEach(each -> each.source.configure(next));
    }

    /** Returns how many exchanges there may be at once, 0 for any number. */
    int requestsInFlight() {
        return settings.requestsInFlight();
    }

    /** Returns what it looks at. */
    public List<Pressure> sources() {
        return sources.stream().map(each -> each.source).toList();
    }

    /** Returns which part of something was in use at the last review. */
    public double level(Pressure source) {
        return sources.stream()
                .filter(each -> each.source == source)
                .mapToDouble(each -> each.level)
                .findFirst()
                .orElse(0);
    }

    /** Returns what is refused now. */
    public Refusing refusing() {
        return refusing;
    }

    /** Returns what was done so far. */
    public Actions actions() {
        return actions;
    }

    /** Whether a connection that comes now is refused. */
    public boolean refusesConnections() {
        return refusing != Refusing.NOTHING;
    }

    /** Whether a request that begins now is refused. */
    public boolean refusesRequests() {
        return refusing == Refusing.REQUESTS;
    }

    /** Whether connections do not stay open for what their clients may ask next. */
    public boolean endsKeepAlive() {
        return endsKeepAlive;
    }

    /** New work was refused because of what was short at the last review. */
    void onRefused(Action action) {
        actions.count(refusedFor, action);
    }

    /** A client was told that its connection closes, because of what was short at the last review. */
    void onKeepAliveEnded() {
        actions.count(closedFor, Action.END_KEEP_ALIVE);
    }

    /** Asks all sources, and decides by the one that is furthest beyond its limit. To be called by one thread at a time. */
    public void review() {
        OverloadSettings current = settings;
        Watched worst = null;
        double over = Double.NEGATIVE_INFINITY; // how far the worst is beyond its limit
        double closing = Double.NEGATIVE_INFINITY;
        for (Watched each : sources) {
            Resource resource = each.source.resource();
            double limit = current.limit(resource);
            each.level = each.source.level();
            double beyond = limit == 0 ? Double.NEGATIVE_INFINITY : each.level - limit - EXACT;
            if (each.source.isEasedByRefusing() && beyond > over) {
                over = beyond;
                worst = each;
            }
            if (each.source.isEasedByClosing() && beyond > closing) {
                closing = beyond;
                if (beyond > KEEP_ALIVE) {
                    closedFor = resource;
                }
            }
        }
        endsKeepAlive = closing > (endsKeepAlive ? KEEP_ALIVE - CALM : KEEP_ALIVE);
        decide(worst, over);
    }

    private void decide(@Nullable Watched worst, double over) {
        Refusing before = refusing;
        Refusing next = next(before, over);
        if (next != Refusing.NOTHING && worst != null) {
            refusedFor = worst.source.resource();
        }
        refusing = next;
        if (next == before) {
            return;
        }
        if (next.compareTo(before) > 0 && worst != null) {
            log.warn(
                    "Overload: {} is {}; new {} are refused",
                    worst.source.resource().label(),
                    worst.source.text(worst.level),
                    name(next));
        } else {
            log.info("No more overload: accepting {} again", next == Refusing.CONNECTIONS ? "requests" : name(before));
        }
    }

    private static Refusing next(Refusing before, double over) {
        double requests = before == Refusing.REQUESTS ? REQUESTS - CALM : REQUESTS;
        double connections = before == Refusing.NOTHING ? 0 : -CALM;
        if (over > requests) {
            return Refusing.REQUESTS;
        }
        return over > connections ? Refusing.CONNECTIONS : Refusing.NOTHING;
    }

    private static String name(Refusing refusing) {
        return refusing == Refusing.REQUESTS ? "connections and requests" : "connections";
    }
}
