package dev.gateway.listener;

import dev.gateway.net.FailureText;
import dev.gateway.overload.Resource;
import dev.gateway.overload.Throttle;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.stream.SourceAddress;
import java.net.SocketAddress;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs clients of a listener that the gateway refuses before their first request: for each reason at once, then once a
 * minute, with a count and an example. Event loops share it.
 */
final class RefusalLog {
    private static final Logger log = LoggerFactory.getLogger(RefusalLog.class);

    private final Map<HandshakeFailure, Throttle> handshakes = new EnumMap<>(HandshakeFailure.class);
    private final Throttle withoutFiles;
    private final Throttle full;
    private final Throttle address;
    private final Throttle client;
    private final Throttle denied;
    private final Throttle givenWay;
    private final Throttle share;
    private final Throttle held;
    private final Throttle crowded;

    RefusalLog(LongSupplier clock) {
        for (HandshakeFailure each : HandshakeFailure.values()) {
            handshakes.put(each, new Throttle(clock));
        }
        withoutFiles = new Throttle(clock);
        full = new Throttle(clock);
        address = new Throttle(clock);
        client = new Throttle(clock);
        denied = new Throttle(clock);
        givenWay = new Throttle(clock);
        share = new Throttle(clock);
        held = new Throttle(clock);
        crowded = new Throttle(clock);
    }

    /** A TLS handshake has failed. */
    void onHandshakeFailed(String listener, HandshakeFailure reason, @Nullable SocketAddress peer, Throwable failure) {
        Throttle throttle = handshakes.get(reason);
        long count = throttle == null ? 0 : throttle.count();
        if (count > 0) {
            log.warn(
                    "listener {}: a TLS handshake failed ({}, {} so far), such as with {}: {}: {}",
                    listener,
                    reason.label(),
                    count,
                    SourceAddress.of(peer),
                    reason.explanation(),
                    describe(reason, failure));
        }
    }

    /**
     * Returns what failed: the last cause, which says most. Not Netty's message for cleartext, which quotes the client's bytes:
     * they may contain passwords.
     */
    static String describe(HandshakeFailure reason, Throwable failure) {
        if (reason == HandshakeFailure.CLEARTEXT) {
            return failure.getClass().getSimpleName();
        }
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return FailureText.of(root);
    }

    /** The listener has reached its limit of connections. */
    void onFull(String listener, @Nullable SocketAddress peer) {
        tell(full.count(), listener, SourceAddress.of(peer), "limits.maxConnections");
    }

    /** An address has reached its limit of connections. */
    void onTooManyOfAddress(String listener, @Nullable SocketAddress peer) {
        tell(address.count(), listener, SourceAddress.of(peer), "limits.maxConnectionsPerAddress");
    }

    /** A client has reached its limit of connections. */
    void onTooManyOfClient(String listener, SourceAddress peer) {
        tell(client.count(), listener, peer, "limits.maxConnectionsPerClient");
    }

    /** A client holds as much memory as one client may. */
    void onShareUsedUp(String listener, SourceAddress peer) {
        tellOfHolder(share.count(), listener, peer, "holds all the memory that one client may hold");
    }

    /** A client has its share of the connections while others find no room. */
    void onMoreThanShare(String listener, SourceAddress peer) {
        tellOfHolder(held.count(), listener, peer, "has its share of limits.maxConnections while others find no room");
    }

    /** A client may not connect, by the listener's rules about addresses. */
    void onDenied(String listener, SourceAddress peer, String why) {
        long count = denied.count();
        if (count > 0) {
            log.warn(
                    "listener {} refuses connections by ipAccess ({} so far), such as of {}, which {}",
                    listener,
                    count,
                    peer,
                    why);
        }
    }

    /** An idle connection was closed, because there was too little of a resource for a new one. */
    void onGivenWay(String listener, Resource because) {
        Throttle throttle =
                switch (because) {
                    case OPEN_FILES -> withoutFiles;
                    case CONNECTIONS -> crowded;
                    default -> givenWay;
                };
        long count = throttle.count();
        if (count > 0) {
            log.warn(
                    "listener {} closes idle connections ({} so far), because {}",
                    listener,
                    count,
                    switch (because) {
                        case OPEN_FILES ->
                            "clients have taken all file descriptors for them: raise the limit of open files";
                        case CONNECTIONS ->
                            "a client has more than its share of limits.maxConnections, and others find no room";
                        default -> "memory for clients is short";
                    });
        }
    }

    /** A client has so much that it gets no more. It may be a proxy that serves many. */
    private static void tellOfHolder(long count, String listener, SourceAddress peer, String what) {
        if (count > 0) {
            log.warn(
                    "listener {} refuses connections ({} so far), such as of {}, which {}."
                            + " If it is a proxy, set proxyProtocol or trustedProxies",
                    listener,
                    count,
                    peer,
                    what);
        }
    }

    private static void tell(long count, String listener, SourceAddress peer, String limit) {
        if (count > 0) {
            log.warn(
                    "listener {} refuses connections over {} ({} so far), such as of {}", listener, limit, count, peer);
        }
    }
}
