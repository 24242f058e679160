package dev.gateway.protocol.http2;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.RetrySafety;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/** A request sent upstream. It takes its number when its head is sent. */
final class Http2ClientStream extends MultiplexedStream implements ClientStream {
    /** How far the request has come. */
    private enum Phase {
        /** It counts, but has no number yet. */
        OPENED,
        /** It ended before it was sent. */
        NEVER_SENT,
        SENT,
        /** The head of the final response has come. */
        ANSWERED,
        /** And has opened a tunnel. */
        TUNNEL
    }

    /** What the request's method means for the response. */
    private enum Kind {
        PLAIN,
        /** The response has no body, whatever length it announces. */
        BODILESS,
        CONNECT
    }

    private final ClientStreams client; // of its connection
    private Phase phase = Phase.OPENED;
    private Kind kind = Kind.PLAIN;
    private int batchesBefore; // how often the connection had been read when the head was sent
    private int interim; // responses so far
    private long waitingFields; // bytes of its head and trailers that are charged

    Http2ClientStream(ClientStreams client, StreamContext context, ResponseEvents events) {
        super(context);
        this.client = client;
        events(events);
        ConnectionInfo asking = events.clientConnection();
        if (asking != null) {
            account(asking.account());
        }
    }

    @Override
    public long heldHeap() {
        return Cost.STREAM;
    }

    @Override
    public void head(RequestHead head, boolean last) {
        if (phase != Phase.OPENED || isDead()) {
            return;
        }
        if (head.protocol() != null && !client.allowsExtendedConnect()) {
            fail(Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, "the upstream takes no extended CONNECT"));
            return;
        }
        if (!context.sender().takesMore() && !account().waitingBodies().hasRoom(head.heldBytes())) {
            fail(Failure.of(Cause.OVERLOAD, "no memory is left for requests that the upstream does not read"));
            return;
        }
        phase = Phase.SENT;
        kind = head.isConnect() ? Kind.CONNECT : head.method().equals(Method.HEAD) ? Kind.BODILESS : Kind.PLAIN;
        batchesBefore = client.probe().batches();
        if (last) {
            localEnded();
        }
        if (!client.send(this, head, last)) {
            fail(Failure.of(
                    Cause.UPSTREAM_RESET_BEFORE_HEADERS,
                    RetrySafety.ALWAYS,
                    "the connection took no new stream any more"));
            client.capacityChanged();
        }
    }

    /** If the upstream takes nothing for now, they wait for it: even after the exchange has given up, as a part may have left. */
    @Override
    void onFieldsWritten(int bytes) {
        if (bytes > 0 && !context.sender().takesMore()) {
            if (waitingFields == 0) {
                account().join();
                account().charge(Cost.STREAM);
                client.onWaiting(this);
            }
            account().waitingBodies().charge(bytes);
            waitingFields += bytes;
        }
    }

    /** The upstream has taken its head and trailers, or never will. */
    void releaseFields() {
        if (waitingFields > 0) {
            account().waitingBodies().release(waitingFields);
            account().release(Cost.STREAM);
            waitingFields = 0;
            account().leave();
        }
    }

    /** The exchange holds them until the response, as another attempt may need them. */
    @Override
    long heldAlone(Fields trailers) {
        return Cost.PIECE;
    }

    /** Of an upstream that sends faster than the client takes, much would have to be held. */
    @Override
    void onConsumed(Http2Stream h2) {
        if (!DirectMemory.isAmple()) {
            context.windows().narrow(h2, Http2ClientSettings.NARROW_WINDOW);
        }
    }

    @Override
    void onGivenUp() {
        if (phase != Phase.OPENED) {
            client.onGivenUp(batchesBefore);
        }
    }

    @Override
    void onDying() {
        if (phase == Phase.OPENED) {
            phase = Phase.NEVER_SENT;
            client.onGivenUpUnsent();
        }
        client.onUnwanted();
    }

    void tellUnresponsive(String why) {
        ResponseEvents told = responseEvents();
        if (told != null) {
            told.onUnresponsive(why);
        }
    }

    /** Whether it was sent and has no answer yet. */
    boolean isAwaited() {
        return phase == Phase.SENT && !isDead();
    }

    @Override
    void onProgress() {
        client.probe().onMessage();
    }

    boolean hasResponse() {
        return phase.compareTo(Phase.ANSWERED) >= 0;
    }

    void onHead(ResponseHead head, boolean last) throws Http2Exception {
        if (head.isInterim()) {
            if (++interim > ResponseHead.MAX_INTERIM) {
                throw streamError("too many interim responses");
            }
        } else {
            if (kind == Kind.CONNECT && head.status() < 300) {
                phase = Phase.TUNNEL;
            } else {
                phase = Phase.ANSWERED;
                if (head.status() == 204 || head.status() == 304) {
                    kind = Kind.BODILESS;
                }
                expect(kind == Kind.BODILESS ? 0 : head.contentLength()); // RFC 9113, section 8.1.1
                countBody(0, last);
            }
        }
        if (last) {
            remoteEnded();
        }
        ResponseEvents told = responseEvents();
        if (told != null) {
            touch();
            told.onHead(head, last);
        }
    }

    /**
     * Returns the receiver of the response, null if there is none any more. A stream that was reset lives until the upstream has taken
     * that, and must not keep the exchange until then.
     */
    private @Nullable ResponseEvents responseEvents() {
        return (ResponseEvents) events();
    }

    /** Other proxies drop such bytes, too. */
    @Override
    boolean isBodiless() {
        return kind == Kind.BODILESS;
    }

    @Override
    void checkDataMayCome() throws Http2Exception {
        if (!hasResponse()) {
            throw streamError("DATA before a response's head");
        }
    }

    /** A complete response is one, whatever the upstream says of the rest of the request. */
    @Override
    boolean isOver() {
        return isRemoteEnded() && (phase != Phase.TUNNEL || isLocalEnded());
    }

    @Override
    boolean isDone() {
        return isRemoteEnded() && isLocalEnded();
    }

    @Override
    Failure resetByPeer(long errorCode) {
        Http2Error error = Http2Error.valueOf(errorCode);
        String detail = "the upstream reset the stream: " + (error == null ? "an unknown code" : error.name());
        if (hasResponse()) {
            return Failure.of(Cause.UPSTREAM_RESET_IN_BODY, detail);
        }
        if (error == Http2Error.HTTP_1_1_REQUIRED) {
            return client.http1Required();
        }
        // RFC 9113, section 8.7; a request that breaks the upstream's rules would do so again.
        RetrySafety retry = error == Http2Error.REFUSED_STREAM
                ? RetrySafety.ALWAYS
                : error == Http2Error.PROTOCOL_ERROR ? RetrySafety.NEVER : RetrySafety.IF_IDEMPOTENT;
        return Failure.of(Cause.UPSTREAM_RESET_BEFORE_HEADERS, retry, detail);
    }

    @Override
    Failure malformed(String detail) {
        return Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, detail);
    }

    @Override
    Failure lost() {
        return client.lost(h2(), hasResponse());
    }

    @Override
    Failure stalled() {
        return Failure.of(Cause.UPSTREAM_TIMEOUT, "the upstream did not read the request in time");
    }

    @Override
    Http2Error errorCode(Failure failure) {
        return failure.cause() == Cause.UPSTREAM_PROTOCOL_ERROR ? Http2Error.PROTOCOL_ERROR : Http2Error.CANCEL;
    }
}
