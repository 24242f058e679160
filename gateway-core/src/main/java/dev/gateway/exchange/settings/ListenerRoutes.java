package dev.gateway.exchange.settings;

import dev.gateway.exchange.route.Router;
import dev.gateway.stream.ConnectionInfo;
import org.jspecify.annotations.Nullable;

/**
 * The routes of a generation, by listener. They lead to all rules, so an exchange only looks its route up here, and keeps
 * {@link #settings} instead. Immutable, shared by all event loops.
 */
public interface ListenerRoutes {
    /** Returns one more than the highest {@link ConnectionInfo#listener} of this generation. */
    int listeners();

    /** Whether this generation has that listener. */
    boolean serves(int listener);

    /** Returns the routes of a listener, by {@link ConnectionInfo#listener}. */
    Router router(int listener);

    /**
     * Returns the routes of plain CONNECT requests of a listener, which also take the {@code http} URIs that no route
     * of {@link #router} matches; null if the listener offers no tunnels.
     */
    default @Nullable Router tunnels(int listener) {
        return null;
    }

    /** Returns the settings of a listener's exchanges. They hold no route. */
    ExchangeSettings settings(int listener);
}
