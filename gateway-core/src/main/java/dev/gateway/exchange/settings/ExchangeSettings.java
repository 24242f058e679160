package dev.gateway.exchange.settings;

import dev.gateway.config.observe.TracingConfig;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.message.forwarded.ForwardedFields;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the exchanges of one listener, in one generation. Each request gets them once, so that one generation serves it
 * to its end. Immutable, shared by all event loops.
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

    /** Whether the listener offers tunnels. */
    default boolean offersTunnels() {
        return false;
    }

    /** Returns the body of an error, if no filter has chosen one. */
    default ErrorBody errorBody(ErrorAnswer answer) {
        return ErrorBody.UNCHANGED;
    }

    /** Returns which fields of requests the gateway believes. */
    ClientTrust trust();

    /** Returns the fields that tell upstreams where a request comes from, or null for none. */
    @Nullable
    ForwardedFields forwarded();

    /** Returns the gateway's name in {@code Proxy-Status}: a token. */
    AsciiString name();

    /** Returns the settings of traces, null if tracing is off. */
    default @Nullable TracingConfig traces() {
        return null;
    }

    /** Returns how requests are told apart. */
    default RequestIdSettings requestIds() {
        return RequestIdSettings.DEFAULT;
    }

    /** Returns what to do with the ID that a client has sent. */
    default RequestIdPolicy requestId() {
        return RequestIdPolicy.ACCEPT_OR_GENERATE;
    }

    /** Returns what becomes of {@code Server} in responses. */
    default ServerHeader serverHeader() {
        return ServerHeader.DEFAULT;
    }

    /** Whether every request gets {@code Via}, or else those that may come back directly. */
    default boolean signsAll() {
        return false;
    }

    /** Returns how many bytes the first line of a request may have, in any protocol; 0 for no limit. */
    default int maxRequestLineBytes() {
        return 0;
    }

    /** Returns how many bytes a request's body may have, 0 for no limit. */
    default long maxRequestBodyBytes() {
        return 0;
    }

    /** Returns how fast a client must send a request's body, null for no limit. */
    default @Nullable BodyRate bodyRate() {
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
