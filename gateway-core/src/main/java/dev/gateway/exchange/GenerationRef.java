package dev.gateway.exchange;

import dev.gateway.exchange.progress.ProgressWatch;
import dev.gateway.exchange.settings.ListenerRoutes;
import dev.gateway.stream.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A counted reference to a generation, for one event loop. Listeners use it whose new requests it serves, and exchanges
 * that began with it. When no listener uses it any more, it drops the routes: exchanges may last for hours, and a generation is
 * large. When nothing uses it, it calls back once. Confined to the loop.
 */
public final class GenerationRef {
    private @Nullable ListenerRoutes routes; // null when no listener uses it any more
    private final Set<GenerationRef> inUse;
    private final Runnable ended;
    private int listeners;
    private int uses;
    private @Nullable Use newest; // of its exchanges, which are linked
    private int exchanges;

    /** An exchange, as its generation knows it. */
    static class Use {
        private @Nullable Use older;
        private @Nullable Use newer;

        /** Ends it, because its generation has to give way to others. Does nothing unless it was added. */
        void giveWay(Failure failure) {}

        /** Shows the watch whether it keeps an upstream busy, and whether it makes progress. Only for one that was added. */
        void showTo(ProgressWatch watch) {}
    }

    /**
     * Makes one that nothing uses yet.
     *
     * @param inUse all that are in use on the loop, this one included until it ends
     */
    GenerationRef(ListenerRoutes routes, Set<GenerationRef> inUse, Runnable ended) {
        this.inUse = inUse;
        inUse.add(this);
        this.routes = routes;
        this.ended = ended;
    }

    /** Returns the routes, of which a listener that uses this may ask for a new request. */
    ListenerRoutes routes() {
        return Objects.requireNonNull(routes, "no listener uses this generation");
    }

    /** It serves another listener from now on. */
    void serve() {
        listeners++;
        begin();
    }

    /** It no longer serves a listener: another generation does, or the listener was removed. */
    void retire() {
        if (--listeners == 0) {
            routes = null;
        }
        end();
    }

    void begin() {
        uses++;
    }

    /** An exchange has begun. It may have to end early, unlike a copy of a request, which lasts for a short time only. */
    void add(Use begun) {
        Use before = newest;
        begun.older = before;
        if (before != null) {
            before.newer = begun;
        }
        newest = begun;
        exchanges++;
    }

    /** An exchange that was added is over. */
    void remove(Use over) {
        Use older = over.older;
        Use newer = over.newer;
        if (older != null) {
            older.newer = newer;
        }
        if (newer != null) {
            newer.older = older;
        } else {
            newest = older;
        }
        over.older = null;
        over.newer = null;
        exchanges--;
    }

    /** Returns how many exchanges use it. */
    public int exchanges() {
        return exchanges;
    }

    /** Ends its exchanges for this reason. A WebSocket gets a Close frame, and a few seconds. */
    public void endExchanges(Failure failure) {
        List<Use> open = new ArrayList<>(exchanges); // the end of one may end others
        for (Use each = newest; each != null; each = each.older) {
            open.add(each);
        }
        open.forEach(each -> each.giveWay(failure));
    }

    /** Shows all of its exchanges, none of which may end by that. */
    void showTo(ProgressWatch watch) {
        for (Use each = newest; each != null; each = each.older) {
            each.showTo(watch);
        }
    }

    void end() {
        if (--uses == 0) {
            inUse.remove(this);
            ended.run();
        }
    }
}
