package dev.gateway.exchange;

import dev.gateway.message.ForwardedFields;
import dev.gateway.route.Router;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.trace.TraceSettings;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Per-generation settings of exchanges: what exchanges need of a generation; asked for once per request, so that a request
 * is served by one generation to its end. Immutable, shared by all event loops.
 */
public interface ExchangeSettings {
    /** Returns one more than the highest {@link ConnectionInfo#listener} of this generation. */
    int listeners();

    /** Returns the number of this generation, 1 for the first. */
    default int generation() {
        return 0;
    }

    /**
     * Returns what an exchange still needs when its response has begun, which holds nothing large: it is asked for names
     * only.
     */
    default ExchangeSettings afterHead() {
        return this;
    }

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

    /** Returns which fields of a listener's requests are believed. */
    ClientTrust trust(int listener);

    /** Returns what tells upstreams where a request of a listener came from, or null if nothing does. */
    @Nullable
    ForwardedFields forwarded(int listener);

    /** Returns the gateway's name in {@code Proxy-Status}: a token. */
    AsciiString name();

    /** Returns what is done about traces, null if nothing is. */
    default @Nullable TraceSettings traces() {
        return null;
    }

    /** Returns what happens about {@code X-Request-Id}. */
    default RequestIdPolicy requestId() {
        return RequestIdPolicy.ACCEPT_OR_GENERATE;
    }

    /** Returns the {@code Server} field of responses made here, or null for none. */
    default @Nullable AsciiString server() {
        return null;
    }

    /** Returns how many bytes the first line of a request may have, whatever the protocol; 0 for no limit. */
    default int maxRequestLineBytes(int listener) {
        return 0;
    }

    /** Returns how many bytes a request's body may have, 0 for no limit. */
    default long maxRequestBodyBytes(int listener) {
        return 0;
    }

    /** Returns how fast a client must send a request's body, null if it may take its time. */
    default @Nullable BodyRate bodyRate(int listener) {
        return null;
    }

    /** What happens about {@code X-Request-Id}. */
    enum RequestIdPolicy {
        /** Nothing is added, and what a client sent passes. */
        OFF,
        /** A client's is replaced. */
        GENERATE,
        /** A trusted peer's is kept if it is harmless to log, any other is replaced: up to 128 letters, digits and {@code -._~+/=:}. */
        ACCEPT_OR_GENERATE
    }
}
