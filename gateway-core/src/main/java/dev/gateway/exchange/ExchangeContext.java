package dev.gateway.exchange;

import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.ExchangeRecord.Side;
import dev.gateway.overload.Cost;
import dev.gateway.overload.Holding;
import dev.gateway.overload.LoopGate;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * What the parts of one exchange share: its data, the client's stream, and the services of its event loop. Other parts
 * are called through an {@code Owner}. The class that {@link Exchange} extends, as an object of its own would be one more for each request. Confined to the event loop.
 */
class ExchangeContext {
    final LoopServices loop;
    final ServerStream server;
    final RequestHead head;
    final ExchangeRecord record;
    final ExchangeState state = new ExchangeState();

    /** What the exchange makes the process hold: itself, its request's head, and whatever else is kept for it. */
    final Holding held;

    private ExchangeSettings settings;

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

    /** Takes the exchange in, and charges it; returns why not if there is no room for it. */
    final @Nullable Failure admit() {
        LoopGate gate = loop.gate;
        if (gate.endsKeepAlive() && server.announceClose()) {
            gate.onKeepAliveEnded();
        }
        if (!gate.admitsRequest(loop.active())) {
            return Failure.of(Cause.OVERLOAD, "the gateway refuses new requests for now");
        }
        if (held.tryAdd(Cost.EXCHANGE + head.heldBytes())) {
            return null;
        }
        gate.onNoRoomForRequest();
        return Failure.of(Cause.OVERLOAD, "no memory is left for another request");
    }

    /** Returns the client's connection. */
    public final ConnectionInfo connection() {
        return record.connection;
    }

    final ExchangeSettings settings() {
        return settings;
    }

    /** The response's head has been sent: what is left to do needs no routes, which may be those of an old generation. */
    final void dropRoutes() {
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

    /** Whether a wish to upgrade was refused, here or by the upstream, and the request is not taken for a plain one yet. */
    final boolean isUpgradeRefused() {
        return record.kind != Kind.HTTP && !head.isConnect();
    }

    /** For people who debug. */
    @Override
    public final String toString() {
        AsciiString path = record.path;
        return record.method + " " + path + " " + state.phase();
    }
}
