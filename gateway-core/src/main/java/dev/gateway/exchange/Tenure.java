package dev.gateway.exchange;

/**
 * A generation in use on one event loop: by listeners whose requests it serves, and by exchanges that began with it.
 * Confined to the loop, which tells once when nothing uses it any more.
 */
final class Tenure {
    final ExchangeSettings settings;
    private final Runnable ended;
    private int uses;

    Tenure(ExchangeSettings settings, Runnable ended) {
        this.settings = settings;
        this.ended = ended;
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
