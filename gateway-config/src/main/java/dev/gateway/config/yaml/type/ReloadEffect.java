package dev.gateway.config.yaml.type;

/** When a reload applies a changed value. The JSON Schema says it with the keyword {@code x-reload}. */
public enum ReloadEffect {
    /** Requests, tunnels and log lines that begin after the reload use it, on open connections too. */
    AT_ONCE("atOnce"),
    /** Connections that the gateway accepts after the reload use it; open ones keep the former value. */
    NEW_CONNECTIONS("newConnections"),
    /** The next request uses it on a new upstream connection; exchanges on the former connections finish there. */
    RECONNECT("reconnect"),
    /** The gateway binds the new address first, and then drains the listener of the former one. */
    REBIND("rebind"),
    /** The reload warns of the change, which needs a restart. */
    RESTART("restart");

    private final String word;

    ReloadEffect(String word) {
        this.word = word;
    }

    /** Returns what the schema calls it. */
    String word() {
        return word;
    }
}
