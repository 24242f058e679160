package dev.gateway.exchange;

import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.ExchangeRecord.Side;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.Holding;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.ViaSignature;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * What the parts of one exchange share: its data, the client's stream, and the services of its event loop. {@link
 * Exchange} extends this class, to save an object for each request. Requests of the gateway's own have one, too. Confined to the
 * event loop.
 */
class ExchangeContext extends GenerationRef.Use {
    final LoopServices loop;
    final ServerStream server;
    final RequestHead head;
    final ExchangeRecord record;
    final ExchangeState state = new ExchangeState();

    /** The memory that the exchange holds: its objects, the request's head, and everything else that is kept for it. */
    final Holding held;

    /** By which requests of its route are known if they come back, null if nobody looks for them. */
    @Nullable
    ViaSignature signature;

    private ExchangeSettings settings;
    private boolean streamCharged; // an attempt has had a stream
    private int headBytes; // what was charged for the request's head

    ExchangeContext(
            LoopServices loop,
            ExchangeSettings settings,
            ServerStream server,
            RequestHead head,
            ExchangeRecord record) {
        this.loop = loop;
        this.settings = settings;
        this.server = server;
        this.head = head;
        this.record = record;
        this.held = new Holding(record.connection.account());
    }

    /** Admits the exchange and charges its memory; returns why not if the gateway is overloaded. */
    final @Nullable Failure admit() {
        LoopGate gate = loop.gate;
        if (gate.endsKeepAlive() && server.announceClose()) {
            gate.onKeepAliveEnded();
        }
        if (!gate.admitsRequest(loop.active())) {
            return Failure.of(Cause.OVERLOAD, "the gateway refuses new requests for now");
        }
        headBytes = head.heldBytes();
        if (held.tryAdd(Cost.EXCHANGE + headBytes)) {
            return null;
        }
        onNoRoom(Cost.EXCHANGE + headBytes);
        return Failure.of(Cause.OVERLOAD, "no memory is left for another request");
    }

    /**
     * The gateway or filters may have added to the request's head, and it may wait from here on: charges what it takes more
     * than before. Returns why not if there is no room.
     */
    final @Nullable Failure chargeHead() {
        int now = head.heldBytes() + replacedPathBytes();
        if (now <= headBytes) {
            return null;
        }
        if (!held.tryAdd(now - headBytes)) {
            onNoRoom(now - headBytes);
            return Failure.of(Cause.OVERLOAD, "no memory is left for what was added to the request's head");
        }
        headBytes = now;
        return null;
    }

    /**
     * Returns how many bytes the path takes that the client has sent, if filters have replaced it. The access log shows it.
     * One that is a view of the fields' array is counted with them.
     */
    @SuppressWarnings("ReferenceEquality") // a path that was replaced is another object
    private int replacedPathBytes() {
        AsciiString sent = record.path;
        return sent == head.path() || !sent.isEntireArrayUsed() ? 0 : sent.length();
    }

    /** An attempt has a stream. That of a further attempt mostly takes the place of the first, and is not charged. */
    final void chargeStream(ClientStream opened) {
        if (!streamCharged) {
            streamCharged = true;
            held.add(opened.heldHeap());
        }
    }

    /** The same for the stream of the client's own request, which fails if there is no room; returns whether there is. */
    final boolean tryChargeStream(ClientStream opened) {
        if (!streamCharged) {
            streamCharged = held.tryAdd(opened.heldHeap());
            if (!streamCharged) {
                onNoRoom(opened.heldHeap());
            }
        }
        return streamCharged;
    }

    /** The request fails, since no room is left for so many bytes. */
    final void onNoRoom(long bytes) {
        ConnectionInfo connection = record.connection;
        loop.gate.onNoRoomForRequest(connection.account(), bytes, connection.listenerName(), record.client);
    }

    /** Returns the client's connection. */
    public final ConnectionInfo connection() {
        return record.connection;
    }

    /** Returns how many bytes of heap it holds. */
    public final long heldHeap() {
        return held.bytes();
    }

    /**
     * The request is about to go to this peer. If that is a listener of this gateway, the request is signed, whatever the
     * settings: it may take the same route again, for ever.
     */
    final void signFor(DialedPeer peer) {
        ViaSignature mine = signature;
        if (peer.own() && mine != null && !mine.isIn(head.fields())) {
            mine.sign(head.fields(), record.connection.version());
        }
    }

    final ExchangeSettings settings() {
        return settings;
    }

    /** The response's head has been sent: drops settings that may belong to an old generation. */
    final void dropSettings() {
        settings = settings.afterHead();
    }

    /**
     * The exchange is over.
     *
     * @param failure why, null if it went well
     * @param requested whether the gateway asked both ends of a tunnel to close, for this failure; it then counts as the
     *     cause, whichever end closed first
     */
    final void recordEnd(@Nullable Failure failure, boolean requested) {
        record.endNanos = loop.wheel.nanoTime();
        if (failure != null) {
            record.cause = failure.cause();
            record.detail = failure.detail();
            record.endedBy = record.endedBy == null || requested ? side(failure.cause()) : record.endedBy;
        }
    }

    private static Side side(Cause cause) {
        return switch (cause) {
            case CLIENT_CLOSED, CLIENT_TIMEOUT, CLIENT_PROTOCOL_ERROR -> Side.CLIENT;
            case UPSTREAM_RESET_BEFORE_HEADERS, UPSTREAM_RESET_IN_BODY, UPSTREAM_PROTOCOL_ERROR -> Side.UPSTREAM;
            default -> Side.GATEWAY;
        };
    }

    /**
     * Whether the gateway or the upstream has refused an upgrade, and the record does not say yet that it is a plain
     * request.
     */
    final boolean isUpgradeRefused() {
        return record.kind != Kind.HTTP && !head.isConnect();
    }

    /** For debugging. */
    @Override
    public final String toString() {
        AsciiString path = record.path;
        return record.method + " " + path + " " + state.phase();
    }
}
