package dev.gateway.exchange;

/**
 * A counted reference to a generation in use on one event loop: by listeners whose requests it serves, and by exchanges that
 * began with it. Confined to the loop, which tells once when nothing uses it any more. Of a generation that serves no
 * listener, it keeps only what exchanges need whose response has begun: they may last for hours, and a generation is large.
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

    /** A listener is served by it from now on. */
    void serve() {
        listeners++;
        begin();
    }

    /** A listener is served by another one from now on, or is gone. */
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
