package dev.gateway.exchange.settings;

import dev.gateway.config.observe.TracingConfig;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.message.forwarded.ForwardedFields;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Per-generation settings of exchanges. Each request gets them once, so that one generation serves it to its end. A
 * listener is named by its index. Immutable, shared by all event loops.
 */
public interface ExchangeSettings {
    /** Returns the number of this generation, 1 for the first. */
    default int generation() {
        return 0;
    }

    /**
     * Returns the settings that an exchange still needs when its response has begun. They hold no large objects, and only
     * the names in them are used.
     */
    default ExchangeSettings afterHead() {
        return this;
    }

    /** Whether a listener offers tunnels. */
    default boolean offersTunnels(int listener) {
        return false;
    }

    /** Returns the body of an error on a listener, if no filter has chosen one. */
    default ErrorBody errorBody(int listener, ErrorAnswer answer) {
        return ErrorBody.UNCHANGED;
    }

    /** Returns which fields of a listener's requests the gateway believes. */
    ClientTrust trust(int listener);

    /** Returns the fields that tell upstreams where a request of a listener comes from, or null for none. */
    @Nullable
    ForwardedFields forwarded(int listener);

    /** Returns the gateway's name in {@code Proxy-Status}: a token. */
    AsciiString name();

    /** Returns the settings of traces, null if tracing is off. */
    default @Nullable TracingConfig traces() {
        return null;
    }

    /** Returns how requests of a listener are told apart. */
    default RequestIdSettings requestIds(int listener) {
        return RequestIdSettings.DEFAULT;
    }

    /** Returns what to do with the ID that a client has sent. */
    default RequestIdPolicy requestId() {
        return RequestIdPolicy.ACCEPT_OR_GENERATE;
    }

    /** Returns what becomes of {@code Server} in the responses of a listener. */
    default ServerHeader serverHeader(int listener) {
        return ServerHeader.DEFAULT;
    }

    /** Whether every request of a listener gets {@code Via}, or else those that may come back directly. */
    default boolean signsAll(int listener) {
        return false;
    }

    /** Returns how many bytes the first line of a request may have, in any protocol; 0 for no limit. */
    default int maxRequestLineBytes(int listener) {
        return 0;
    }

    /** Returns how many bytes a request's body may have, 0 for no limit. */
    default long maxRequestBodyBytes(int listener) {
        return 0;
    }

    /** Returns how fast a client must send a request's body, null for no limit. */
    default @Nullable BodyRate bodyRate(int listener) {
        return null;
    }

    /** What to do with the ID that a client has sent. */
    enum RequestIdPolicy {
        /** Forwards the client's, and adds none. */
        OFF,
        /** Replaces the client's. */
        GENERATE,
        /**
         * Keeps that of a trusted peer if it has up to 128 letters, digits and {@code -._~+/=:}, and replaces all others.
         */
        ACCEPT_OR_GENERATE
    }
}
