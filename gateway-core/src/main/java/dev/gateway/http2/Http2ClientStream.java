package dev.gateway.http2;

import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.DirectMemory;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.RetrySafety;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;

/** A request sent upstream. It takes its number when its head is sent. */
final class Http2ClientStream extends MultiplexedStream implements ClientStream {
    private final Http2ClientConnection client;
    private final ResponseEvents events;
    private int batchesBefore; // how often the connection had been read when the head was sent
    private int interim; // responses so far
    private boolean headSent;
    private boolean responded;
    private boolean tunnel;
    private boolean connect;
    private boolean bodiless; // the response to HEAD announces a length, and has none

    Http2ClientStream(Http2ClientConnection client, ResponseEvents events) {
        super(client);
        this.client = client;
        this.events = events;
        events(events);
    }

    @Override
    public void head(RequestHead head, boolean last) {
        if (headSent || isDead()) {
            return;
        }
        if (head.protocol() != null && !client.allowsExtendedConnect()) {
            fail(Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, "the upstream takes no extended CONNECT"));
            return;
        }
        headSent = true;
        batchesBefore = client.batches();
        connect = head.isConnect();
        bodiless = head.method().equals(Method.HEAD);
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

    /** Of an upstream that sends faster than the client takes, much would have to be held. */
    @Override
    void onConsumed(Http2Stream h2) {
        if (!DirectMemory.isAmple()) {
            client.windows().narrow(h2, Http2ClientSettings.NARROW_WINDOW);
        }
    }

    @Override
    void onGivenUp() {
        if (headSent && client.batches() == batchesBefore) {
            client.suspect();
        }
    }

    @Override
    void onDying() {
        if (!headSent) {
            headSent = true;
            client.released();
        }
    }

    boolean hasResponse() {
        return responded;
    }

    void onHead(ResponseHead head, boolean last) throws Http2Exception {
        if (head.isInterim()) {
            if (++interim > ResponseHead.MAX_INTERIM) {
                throw client.streamError(this, "too many interim responses");
            }
        } else {
            responded = true;
            tunnel = connect && head.status() < 300;
            boolean noContent = bodiless || head.status() == 204 || head.status() == 304;
            if (!tunnel) {
                expect(noContent ? 0 : head.contentLength()); // RFC 9113, section 8.1.1
                account(0, last);
            }
        }
        if (last) {
            remoteEnded();
        }
        if (events() != null) {
            touch();
            events.onHead(head, last);
        }
    }

    @Override
    void afterLocalEnd() {}

    @Override
    void checkDataMayCome() throws Http2Exception {
        if (!responded) {
            throw client.streamError(this, "DATA before a response's head");
        }
    }

    /** A complete response is one, whatever the upstream says of the rest of the request. */
    @Override
    boolean isOver() {
        return isRemoteEnded() && (!tunnel || isLocalEnded());
    }

    @Override
    boolean isDone() {
        return isRemoteEnded() && isLocalEnded();
    }

    @Override
    Failure resetByPeer(long errorCode) {
        Http2Error error = Http2Error.valueOf(errorCode);
        String detail = "the upstream reset the stream: " + (error == null ? "an unknown code" : error.name());
        if (responded) {
            return Failure.of(Cause.UPSTREAM_RESET_IN_BODY, detail);
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
        Failure ended = client.ended();
        if (ended != null) {
            return ended;
        }
        if (!responded && client.isUnprocessed(h2())) {
            return Failure.of(
                    Cause.UPSTREAM_RESET_BEFORE_HEADERS,
                    RetrySafety.ALWAYS,
                    "the upstream went away before the request");
        }
        String offence = client.offence(); // maybe on another stream
        String detail = offence == null ? client.lossDetail() : "the upstream broke the protocol: " + offence;
        Cause cause = offence != null
                ? Cause.UPSTREAM_PROTOCOL_ERROR
                : responded ? Cause.UPSTREAM_RESET_IN_BODY : Cause.UPSTREAM_RESET_BEFORE_HEADERS;
        return responded
                ? Failure.of(cause, detail)
                : new Failure(cause, cause.status(), RetrySafety.IF_IDEMPOTENT, client.hasServed(), detail);
    }

    @Override
    Failure stalled() {
        return Failure.of(Cause.UPSTREAM_TIMEOUT, "the upstream took nothing of the request in time");
    }

    @Override
    Http2Error errorCode(Failure failure) {
        return failure.cause() == Cause.UPSTREAM_PROTOCOL_ERROR ? Http2Error.PROTOCOL_ERROR : Http2Error.CANCEL;
    }
}
