package dev.gateway.protocol.http2;

import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.Lingering;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.Cost;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.Timer;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/** A request from downstream. Its response ends it; a tunnel ends when both directions have. */
final class Http2ServerStream extends MultiplexedStream implements ServerStream {
    private static final long YOUNG_NANOS = 1_000_000_000;

    /** The kind of request. */
    private enum Kind {
        PLAIN,
        /** A tunnel to a destination by TCP. */
        TCP_TUNNEL,
        /** A tunnel of another protocol (RFC 8441). */
        EXTENDED_TUNNEL;

        static Kind of(@Nullable RequestHead request) {
            if (request == null || !request.isConnect()) {
                return PLAIN;
            }
            return request.protocol() == null ? TCP_TUNNEL : EXTENDED_TUNNEL;
        }
    }

    /** How far the response has come. */
    private enum Phase {
        ASKED,
        /** The head of the final response was sent. */
        ANSWERED,
        /** And has opened a tunnel. */
        TUNNEL
    }

    private final ServerStreams server; // of its connection
    private final long began; // by the clock of its timers
    private final Kind kind;
    private final boolean call; // of gRPC, whose clients may say nothing for as long as the exchange may be quiet
    private Phase phase = Phase.ASKED;
    private Priority asked = Priority.NONE;
    private Priority answered = Priority.NONE;
    private boolean wide; // has more credit than a stream has from the start
    private boolean refused;
    private @Nullable Timer bodyTimer;
    private @Nullable Lingering lingering; // null until the request continues after its response

    /**
     * Makes a stream, which keeps nothing of the head: it may be there long after its exchange has ended.
     *
     * @param request null if none could be made out
     */
    Http2ServerStream(ServerStreams server, StreamContext context, @Nullable RequestHead request) {
        super(context);
        this.server = server;
        this.began = context.timers().nanoTime();
        this.kind = Kind.of(request);
        this.call = request != null && request.isGrpc();
    }

    /** The client wants the response to have this priority, as far as the response does not say another. */
    void prioritise(Priority priority) {
        asked = priority;
        applyPriority();
    }

    private void applyPriority() {
        Http2Stream h2 = h2();
        if (h2 != null) {
            server.priorities().apply(h2, answered.saysNothing() ? asked : answered.or(asked), kind != Kind.PLAIN);
        }
    }

    /** Whether its client, if it gives it up now, has hardly waited for it, so that many could follow one another. */
    boolean isYoungAndUnanswered() {
        return phase != Phase.TUNNEL && !isOver() && context.timers().nanoTime() - began < YOUNG_NANOS;
    }

    boolean isWide() {
        return wide;
    }

    @Override
    void onConsumed(Http2Stream h2) {
        if (!wide && !isRemoteEnded()) {
            wide = server.widen(h2);
        }
    }

    /** The handler has returned the events of the exchange. */
    void begin(StreamEvents events) {
        Failure early = early();
        if (early != null) {
            events.onReset(early);
        } else if (!isDead() && !isOver()) {
            events(events);
            onProgress();
        }
    }

    /** A stream that was refused at once is dead, and nothing of it is charged. */
    @Override
    public void countFor(Account client) {
        if (!isDead()) {
            account().release(Cost.STREAM);
            client.join();
            client.charge(Cost.STREAM);
            account(client);
        }
    }

    /** Netty's stream is closed: nothing is held for it any more. */
    void discharge() {
        Account charged = account();
        charged.release(Cost.STREAM);
        if (charged != context.account()) {
            charged.leave();
        }
    }

    @Override
    public ConnectionInfo connection() {
        return server.info();
    }

    @Override
    public void head(ResponseHead head, boolean last) {
        Http2Stream h2 = h2();
        if (h2 == null || phase != Phase.ASKED || isDead() || isLocalEnded()) {
            return;
        }
        boolean interim = head.isInterim();
        if (!interim) {
            phase = kind != Kind.PLAIN && head.status() < 300 ? Phase.TUNNEL : Phase.ANSWERED;
            cancelBodyTimer();
            if (last) {
                localEnded();
            }
        }
        if (head.fields().contains(FieldName.PRIORITY)) { // RFC 9218, section 8
            answered = Priorities.read(head.fields());
            applyPriority();
        }
        context.sender().response(h2, head, last);
    }

    @Override
    public boolean announceClose() {
        return server.tellClose();
    }

    @Override
    public boolean refuse(Failure failure) {
        refused = true;
        reset(failure);
        return true;
    }

    /** Whether there was no room for the request. */
    boolean isRefused() {
        return refused;
    }

    @Override
    public boolean hasRoomFor(ByteBuf body) {
        Http2Stream h2 = h2();
        Account account = account();
        return h2 == null
                || context.sender().takesAll(h2, body.readableBytes())
                || (account.hasRoom(BufferCost.heap(body))
                        && account.waitingBodies().hasRoom(BufferCost.direct(body)));
    }

    /** Heads are bound by no window, only by what the socket takes. */
    @Override
    public boolean hasRoomForHints() {
        return context.sender().takesMore();
    }

    @Override
    void afterLocalEnd() {
        if (isOver()) {
            events(null);
            cancelBodyTimer();
            if (!isRemoteEnded()) {
                consumedAll();
            }
        }
    }

    /** The request continues after its response: what is left of it may still be in this batch of reads. */
    @Override
    void onLocalHalfClosed() {
        if (isOver()) {
            if (context.flushes().isReading()) {
                touch();
            } else {
                linger();
            }
        }
    }

    @Override
    void afterReadComplete() {
        linger();
    }

    /**
     * Reads and drops what the client still sends. A reset right behind the response makes some clients, such as curl 7.88,
     * forget the response, although RFC 9113, section 8.1, allows it.
     */
    private void linger() {
        Http2Stream h2 = h2();
        if (h2 == null || lingering != null || !isUnfinished(h2)) {
            return;
        }
        long rate = server.settings().minBodyRate();
        Lingering made = new Lingering(this::endLingering, context.timers(), rate, Lingering.BRISK_MILLIS);
        lingering = made;
        context.ending().onCutShort(); // if the connection closes meanwhile, it reads on as well
        onConsumed(h2);
        if (server.isDraining()) {
            made.hurry();
        }
        made.begin();
    }

    /** Whether the response has ended, and the request continues. */
    private boolean isUnfinished(Http2Stream h2) {
        return isOver() && h2.state() == Http2Stream.State.HALF_CLOSED_LOCAL;
    }

    @Override
    void onDropped(int bytes) {
        if (lingering != null) {
            lingering.onDropped(bytes);
        }
    }

    /** Stops reading what the client still sends; returns whether that closes a connection. */
    boolean endLingering() {
        Http2Stream h2 = h2();
        if (h2 != null && isUnfinished(h2)) {
            context.sender().reset(h2, Http2Error.NO_ERROR); // RFC 9113, section 8.1
        }
        return false;
    }

    /** The listener takes no new connections: tells who asked, or reads on for a moment only. */
    void drain() {
        StreamEvents told = events();
        if (told != null) {
            told.onDraining();
        }
        if (lingering != null) {
            lingering.hurry();
        }
    }

    @Override
    boolean isOver() {
        return isLocalEnded() && (phase != Phase.TUNNEL || isRemoteEnded());
    }

    @Override
    boolean isDone() {
        return isOver();
    }

    @Override
    void onProgress() {
        long millis = server.settings().timeouts().requestBodyIdleMillis();
        boolean owesBody = kind == Kind.PLAIN && !call && !isRemoteEnded(); // of a tunnel it is the client that waits
        if (!owesBody || phase != Phase.ASKED || millis == 0) {
            cancelBodyTimer();
        } else {
            Timer timer = bodyTimer;
            if (timer == null) {
                timer = new BodyTimer();
                bodyTimer = timer;
            }
            context.timers().arm(timer, millis);
        }
    }

    @Override
    void cancelTimers() {
        super.cancelTimers();
        cancelBodyTimer();
        if (lingering != null) {
            lingering.stop();
        }
    }

    private void cancelBodyTimer() {
        if (bodyTimer != null) {
            bodyTimer.cancel();
        }
    }

    /** The client owes a body and has room to send it. */
    private final class BodyTimer extends Timer {
        @Override
        protected void onExpired() {
            Http2Stream h2 = h2();
            if (h2 != null && !context.windows().hasCredit(h2)) {
                onProgress(); // it waits for us
            } else if (h2 != null) {
                giveUp(Failure.of(Cause.CLIENT_TIMEOUT, "nothing of the request's body came in time"));
            }
        }
    }

    /** If no response has begun, the core may still answer before it returns; if it does not, the stream is reset. */
    void giveUp(Failure failure) {
        Http2Stream h2 = h2();
        StreamEvents told = events();
        if (told != null && told.onEnding(failure)) {
            return;
        }
        events(null);
        if (told != null) {
            told.onReset(failure);
        }
        if (h2 != null && !isOver()) {
            end(Http2Error.CANCEL);
        }
    }

    @Override
    Failure resetByPeer(long errorCode) {
        return Failure.of(Cause.CLIENT_CLOSED, "the client reset the stream: " + name(errorCode));
    }

    @Override
    Failure malformed(String detail) {
        return Failure.of(Cause.CLIENT_PROTOCOL_ERROR, detail);
    }

    @Override
    Failure lost() {
        return Failure.of(Cause.CLIENT_CLOSED, context.ending().lossDetail());
    }

    @Override
    Failure stalled() {
        return Failure.of(Cause.CLIENT_TIMEOUT, "the client did not read the response in time");
    }

    private static String name(long errorCode) {
        Http2Error error = Http2Error.valueOf(errorCode);
        return error == null ? "an unknown code" : error.name();
    }

    @Override
    Http2Error errorCode(Failure failure) {
        if (refused) {
            return Http2Error.REFUSED_STREAM;
        }
        return switch (failure.cause()) {
            case CLIENT_PROTOCOL_ERROR -> Http2Error.PROTOCOL_ERROR;
            case CLIENT_CLOSED, CLIENT_TIMEOUT, BODY_TOO_LARGE, DRAIN, ADMIN_CLOSED -> Http2Error.CANCEL;
            case OVERLOAD -> Http2Error.ENHANCE_YOUR_CALM;
            default -> phase == Phase.TUNNEL ? tunnelError() : Http2Error.INTERNAL_ERROR;
        };
    }

    /** RFC 9113, section 8.5, for a TCP connection; RFC 8441, section 5, for what it is extended to. */
    private Http2Error tunnelError() {
        return kind == Kind.TCP_TUNNEL ? Http2Error.CONNECT_ERROR : Http2Error.CANCEL;
    }
}
