package dev.gateway.overload;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Overload manager. Whether the process has so little left of something that it refuses new work: connections first, then
 * requests. One thread {@link #review reviews} the pressure; event loops ask, which is one read. What was refused may come
 * again as soon as there is some room more than when refusing began.
 */
public final class Overload {
    private static final Logger log = LoggerFactory.getLogger(Overload.class);

    /** Above this part of anything, no new connections are taken. */
    static final double CONNECTIONS = 0.85;

    /** Above this part of anything, no new requests are taken either. */
    static final double REQUESTS = 0.92;

    /** Each ends this much below where it began, so that they do not come and go all the time. */
    static final double CALM = 0.05;

    private final List<Watched> sources = new CopyOnWriteArrayList<>();
    private volatile Refusing refusing = Refusing.NOTHING;

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
        sources.add(new Watched(source));
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

    /** Whether a connection that comes now is refused. */
    public boolean refusesConnections() {
        return refusing != Refusing.NOTHING;
    }

    /** Whether a request that begins now is refused. */
    public boolean refusesRequests() {
        return refusing == Refusing.REQUESTS;
    }

    /** Asks all sources, and decides by the one that has least left. To be called by one thread at a time. */
    public void review() {
        Pressure worst = null;
        double level = 0;
        for (Watched each : sources) {
            double here = each.source.level();
            each.level = here;
            if (here > level) {
                level = here;
                worst = each.source;
            }
        }
        Refusing before = refusing;
        Refusing next = next(before, level);
        refusing = next;
        if (next == before) {
            return;
        }
        if (next.compareTo(before) > 0 && worst != null) {
            log.warn(
                    "Overload: {} is {} % in use; new {} are refused",
                    worst.name(), Math.round(100 * level), name(next));
        } else {
            log.info("No more overload: accepting {} again", next == Refusing.CONNECTIONS ? "requests" : name(before));
        }
    }

    private static Refusing next(Refusing before, double level) {
        double requests = before == Refusing.REQUESTS ? REQUESTS - CALM : REQUESTS;
        double connections = before == Refusing.NOTHING ? CONNECTIONS : CONNECTIONS - CALM;
        if (level > requests) {
            return Refusing.REQUESTS;
        }
        return level > connections ? Refusing.CONNECTIONS : Refusing.NOTHING;
    }

    private static String name(Refusing refusing) {
        return refusing == Refusing.REQUESTS ? "connections and requests" : "connections";
    }
}
