package dev.gateway.listener;

/**
 * A counted reference to the settings that connections are accepted under on one event loop. It is held for as long as they
 * are in force or a connection lives that was accepted under them. Confined to the loop.
 */
final class ListenerSettingsRef {
    final ListenerSettings settings;
    private int uses = 1; // for being in force

    /** Keeps the settings' TLS from being freed; may be called by the thread that makes the listener. */
    ListenerSettingsRef(ListenerSettings settings) {
        this.settings = settings;
        if (settings.tls() != null) {
            settings.tls().retain();
        }
    }

    void begin() {
        uses++;
    }

    /** A connection has closed, or the settings are not in force any more. */
    void end() {
        if (--uses == 0 && settings.tls() != null) {
            settings.tls().close();
        }
    }
}
