package dev.gateway.exchange;

/**
 * A counted reference to a generation, for one event loop. Listeners use it whose new requests it serves, and exchanges
 * that began with it. When no listener uses it any more, it keeps only what exchanges need whose response has begun: these
 * may last for hours, and a generation is large. When nothing uses it, it calls back once. Confined to the loop.
 */
final class GenerationRef {
    private ExchangeSettings settings;
    private final Runnable ended;
    private int listeners;
    private int uses;

    GenerationRef(ExchangeSettings settings, Runnable ended) {
        this.settings = settings;
        this.ended = ended;
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
