package dev.gateway.overload;

import dev.gateway.config.OverloadConfig;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Overload manager: decides whether a resource is so short that the gateway ends keep-alive, refuses new connections, and
 * then requests, too. One thread {@link #review reviews} the pressure; event loops read the result, which is one field.
 * Each step ends at a lower level than it began.
 */
public final class Overload {
    private static final Logger log = LoggerFactory.getLogger(Overload.class);

    /** Relative to the limit of a resource: above this level, connections do not stay open for further requests. */
    static final double KEEP_ALIVE = -0.05;

    /** Relative to the limit of a resource: above this level, the gateway refuses requests, too. */
    static final double REQUESTS = 0.07;

    /** Each step ends this much below the level where it began, so that it does not begin and end all the time. */
    static final double CALM = 0.05;

    /** Tolerance for rounding: a level exactly at a limit refuses nothing. */
    static final double EXACT = 1e-9;

    private final List<Watched> sources = new CopyOnWriteArrayList<>();
    private final Actions actions = new Actions();
    private final ShareLog shares = new ShareLog(System::nanoTime);
    private volatile OverloadConfig settings = OverloadConfig.DEFAULT;
    private volatile Refusing refusing = Refusing.NOTHING;
    private volatile boolean endsKeepAlive;
    private volatile Resource refusedFor = Resource.HEAP; // the last reason for refusing work
    private volatile Resource closedFor = Resource.HEAP; // the last reason for ending keep-alive

    private static final class Watched {
        final Pressure source;
        volatile double level;

        Watched(Pressure source) {
            this.source = source;
        }
    }

    /** What the gateway refuses. */
    public enum Refusing {
        /** Nothing: no resource is short. */
        NOTHING(0),
        /** New connections. */
        CONNECTIONS(1),
        /** New connections, and requests on open connections. */
        REQUESTS(2);

        private final int level;

        Refusing(int level) {
            this.level = level;
        }

        /** Returns a number for metrics: the higher, the more is refused. */
        public int level() {
            return level;
        }
    }

    /** Adds a source of pressure, from the next review on. */
    public void watch(Pressure source) {
        source.configure(settings);
        sources.add(new Watched(source));
    }

    /** Changes the settings, from the next review on. */
    public void configure(OverloadConfig next) {
        settings = next;
        sources.forEach(each -> each.source.configure(next));
    }

    /** Returns the maximum number of exchanges at once, 0 for no limit. */
    int requestsInFlight() {
        return settings.requestsInFlight();
    }

    /** Returns the sources of pressure. */
    public List<Pressure> sources() {
        return sources.stream().map(each -> each.source).toList();
    }

    /** Returns the level of a source at the last review. */
    public double level(Pressure source) {
        return sources.stream()
                .filter(each -> each.source == source)
                .mapToDouble(each -> each.level)
                .findFirst()
                .orElse(0);
    }

    /** Returns what the gateway refuses now. */
    public Refusing refusing() {
        return refusing;
    }

    /** Returns the counts of actions. */
    public Actions actions() {
        return actions;
    }

    /** Returns the log of clients whose requests are refused because of what they hold. */
    ShareLog shares() {
        return shares;
    }

    /** Whether the gateway refuses new connections. */
    public boolean refusesConnections() {
        return refusing != Refusing.NOTHING;
    }

    /** Whether the gateway refuses new requests. */
    public boolean refusesRequests() {
        return refusing == Refusing.REQUESTS;
    }

    /** Whether connections do not stay open for further requests. */
    public boolean endsKeepAlive() {
        return endsKeepAlive;
    }

    /** New work was refused. Counts it for the resource that was short at the last review. */
    void onRefused(Action action) {
        actions.count(refusedFor, action);
    }

    /** The gateway has ended keep-alive of a connection. Counts it for the resource that was short at the last review. */
    void onKeepAliveEnded() {
        actions.count(closedFor, Action.END_KEEP_ALIVE);
    }

    /** Returns the level of a resource above which the gateway refuses new connections, 0 for never. */
    private static double limit(OverloadConfig settings, Resource resource) {
        return switch (resource) {
            case HEAP -> settings.heap();
            case DIRECT_MEMORY -> settings.directMemory();
            case OPEN_FILES -> settings.openFiles();
            case LAG -> settings.lag().isZero() ? 0 : LagPressure.LIMIT;
            case REQUESTS_IN_FLIGHT, CLIENT_HEAP, CONNECTIONS -> 0;
        };
    }

    /** Reads all sources, and decides by the one that is furthest above its limit. Called by one thread at a time. */
    public void review() {
        OverloadConfig current = settings;
        Watched worst = null;
        double over = Double.NEGATIVE_INFINITY; // how far the worst source is above its limit
        double closing = Double.NEGATIVE_INFINITY;
        for (Watched each : sources) {
            Resource resource = each.source.resource();
            double limit = limit(current, resource);
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
