package dev.gateway.exchange;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A counted reference to a generation, for one event loop. Listeners use it whose new requests it serves, and exchanges
 * that began with it. When no listener uses it any more, it keeps only what exchanges need whose response has begun: these
 * may last for hours, and a generation is large. When nothing uses it, it calls back once. Confined to the loop.
 */
final class GenerationRef {
    private @Nullable ListenerRoutes routes; // null when no listener uses it any more
    private ExchangeSettings settings;
    private final Runnable ended;
    private int listeners;
    private int uses;

    GenerationRef(ListenerRoutes routes, Runnable ended) {
        this.routes = routes;
        this.settings = routes.settings();
        this.ended = ended;
    }

    /** Returns the routes, of which a listener that uses this may ask for a new request. */
    ListenerRoutes routes() {
        return Objects.requireNonNull(routes, "no listener uses this generation");
    }

    ExchangeSettings settings() {
        return settings;
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
            settings = settings.afterHead();
        }
        end();
    }

    void begin() {
        uses++;
    }

    void end() {
        if (--uses == 0) {
            ended.run();
        }
    }
}
