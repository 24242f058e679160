package dev.gateway.listener;

/**
 * A counted reference to the settings of connections on one event loop. The settings are in use while new connections get
 * them, and while a connection with them is open. Confined to the loop.
 */
final class ListenerSettingsRef {
    final ListenerSettings settings;
    private int uses = 1; // for new connections

    /** Retains the TLS of the settings. The thread that makes the listener may call it. */
    ListenerSettingsRef(ListenerSettings settings) {
        this.settings = settings;
        if (settings.tls() != null) {
            settings.tls().retain();
        }
    }

    void begin() {
        uses++;
    }

    /** A connection has closed, or new connections get other settings. */
    void end() {
        if (--uses == 0 && settings.tls() != null) {
            settings.tls().close();
        }
    }
}
