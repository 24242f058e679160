package dev.gateway.observe.metrics.state;

import java.util.Set;

/**
 * Listener features: which listeners can count something that others cannot. Immutable.
 *
 * @param tunnels names of those that can have tunnels; WebSockets are not among them
 * @param handshakes names of those on which the gateway itself makes TLS handshakes
 */
public record ListenerFeatures(Set<String> tunnels, Set<String> handshakes) {
    /** No listener has any. */
    public static final ListenerFeatures NONE = new ListenerFeatures(Set.of(), Set.of());

    public ListenerFeatures {
        tunnels = Set.copyOf(tunnels);
        handshakes = Set.copyOf(handshakes);
    }
}
