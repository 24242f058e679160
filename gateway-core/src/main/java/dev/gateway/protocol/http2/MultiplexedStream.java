package dev.gateway.protocol.http2;

import dev.gateway.message.RequestHead;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.stream.Failure;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/**
 * One half of an exchange on a stream of HTTP/2. Made by its connection, called on its event loop; kept as a property of
 * Netty's stream until that closes. Each direction ends once; after both have, or after a reset either way, every call
 * does nothing but release what it is given, and no event follows. The half that sends is {@link SendingStream}'s; what is
 * here receives.
 */
abstract class MultiplexedStream extends SendingStream implements TouchedStreams.Member {
    /** A body's piece up to here is copied: it would keep the buffer it was read into, of up to 512 KiB, from reuse. */
    private static final int COPIED = 2048;

    /** So many short pieces of a stream may wait without being charged: they are a part of what a stream costs. */
    private static final int FREE_PIECES = 16;

    /** What is received before anybody asks how fast: less is over before a window could grow. */
    private static final int WINDOWFUL = 256 * 1024;

    private int untilWindowful = WINDOWFUL; // bytes to be received before it may need more window
    private WindowGrowth.@Nullable Need need; // null until then
    private int untaken; // bytes handed on that were not consumed yet, unless it has failed
    private int tinyHeld; // tiny pieces handed on since the last credit
    private int shortHeld; // short pieces handed on since the last credit; those beyond FREE_PIECES are charged
    private boolean touched; // is among those that hear of read-complete
    private long expected = RequestHead.UNKNOWN_LENGTH; // bytes of body still to come

    MultiplexedStream(StreamContext context) {
        super(context);
    }

    /** So many bytes of body are to come. */
    final void expect(long length) {
        expected = length;
    }

    /** Something of its body or of its end was received. */
    void onProgress() {}

    /** Whether the message has no body, so that bytes of one mean nothing. */
    boolean isBodiless() {
        return false;
    }

    /** DATA was received, with or without anything in it. */
    void checkDataMayCome() throws Http2Exception {}

    /** Bytes of its body were taken. */
    void onConsumed(Http2Stream stream) {}

    /** The last of what we send was written; the peer may continue to send. */
    void onLocalHalfClosed() {}

    /** So many bytes of its body have come that nobody wants, and were dropped. */
    void onDropped(int bytes) {}

    /** What the stream's failing means, the reason being the peer's code. */
    abstract Failure resetByPeer(long errorCode);

    /** What it means that the peer broke the rules on this stream. */
    abstract Failure malformed(String detail);

    /** What it means that the stream was closed with the connection. */
    abstract Failure lost();

    // What the gateway takes.

    @Override
    public final void consumed(int bytes) {
        Http2Stream stream = h2();
        settle();
        int owed = Math.min(bytes, untaken); // once it has failed, closing gives all of it back
        untaken -= owed;
        if (stream != null && owed > 0) {
            context.windows().consumed(stream, owed);
            if (!isDead()) {
                onConsumed(stream);
            }
        }
    }

    /** Nobody takes its body any more: the peer gets back what nobody will give it later. */
    final void consumedAll() {
        consumed(untaken);
    }

    @Override
    final void letGo() {
        untaken = 0; // its new owner releases it
        settle();
    }

    /** What was handed on since the last credit is held no more. */
    private void settle() {
        if (shortHeld > FREE_PIECES) {
            account().release((shortHeld - FREE_PIECES) * Cost.PIECE);
        }
        shortHeld = 0;
        if (tinyHeld > 0) {
            context.guard().onTinyGone(tinyHeld);
            tinyHeld = 0;
        }
    }

    // What the peer does.

    /** Takes a DATA frame's payload, which is lent; returns how many bytes nobody will consume later. */
    final int onData(ChannelHandlerContext ctx, ByteBuf data, boolean last) throws Http2Exception {
        int length = data.readableBytes();
        StreamEvents told = events();
        if (told != null) {
            checkDataMayCome(); // before anything says that the message has ended: it has not begun
        }
        boolean meansNothing = isBodiless();
        account(meansNothing ? 0 : length, last);
        untilWindowful -= length;
        if (last) {
            remoteEnded();
        } else if (untilWindowful <= 0) {
            onWindowful();
        }
        if (told == null) {
            onDropped(length);
            return length;
        }
        if (meansNothing) {
            if (last || length > 0) {
                endBodiless(told, length > 0, last);
            }
            return length;
        }
        if (length > 0 || last) {
            onProgress();
            if (!mayHold(length)) {
                cut("no memory is left for a body in so many pieces");
                return 0; // closing gave all bytes back
            }
            if (length < FloodGuard.TINY) {
                context.guard().onTinyHeld();
                tinyHeld++;
            }
            touch();
            untaken += length;
            told.onData(length == 0 ? Unpooled.EMPTY_BUFFER : isCopied(length) ? copy(ctx, data) : data.retain(), last);
        }
        return 0;
    }

    /**
     * Ends a message that has no body. One that nevertheless brings some is complete, too, and is not waited for: it might
     * never end.
     */
    private void endBodiless(StreamEvents told, boolean malformed, boolean last) {
        if (!last) {
            remoteEnded();
        }
        touch();
        told.onData(Unpooled.EMPTY_BUFFER, true);
        if (malformed) {
            context.observer().onViolation(Http2Violation.MALFORMED_MESSAGE.kind());
        }
        Http2Stream stream = h2();
        if (!last && stream != null && !isDead()) { // else the exchange has reset it, as its request had not ended
            onGivenUp();
            dieAfterBatch();
            context.sender().reset(stream, Http2Error.PROTOCOL_ERROR);
        }
    }

    /**
     * Whether a piece is better copied than kept with all of the buffer that it was read into: if it is short, or, while
     * memory is not ample, if those before it were not taken.
     */
    private boolean isCopied(int length) {
        return length <= COPIED || (untaken > length && !DirectMemory.isAmple());
    }

    /** A window bounds the bytes that a client sends, but not the pieces in which they come. */
    private boolean mayHold(int length) {
        if (length > COPIED) {
            return true;
        }
        if (shortHeld >= FREE_PIECES && !account().tryCharge(Cost.PIECE)) {
            return false;
        }
        shortHeld++;
        return true;
    }

    private void onWindowful() {
        WindowGrowth.Need known = need;
        if (known == null) {
            known = new WindowGrowth.Need();
            need = known;
        }
        Http2Stream stream = h2();
        if (stream != null) {
            untilWindowful += context.growth().onWindowful(known, stream);
        }
    }

    /** Gives back how much window it was given beyond what it had before. */
    final void giveBack() {
        if (need != null) {
            context.growth().giveBack(need.grown(), untaken);
        }
    }

    private static ByteBuf copy(ChannelHandlerContext ctx, ByteBuf data) {
        int length = data.readableBytes();
        return ctx.alloc().buffer(length).writeBytes(data, data.readerIndex(), length);
    }

    /** Ends the peer's message with what its trailers say, if they say it by the rules. */
    final void onTrailers(ReceivedHeaders headers) throws Http2Exception {
        String problem = headers.hasPseudo() ? "a pseudo-header field in trailers" : headers.problem();
        if (problem != null || headers.isTooMany()) {
            throw streamError(problem != null ? problem : "too many trailer fields");
        }
        account(0, true);
        remoteEnded();
        StreamEvents told = events();
        if (told != null) {
            onProgress();
            touch();
            told.onTrailers(headers.fields());
        }
    }

    /** RFC 9113, section 8.1.1: the announced length and that of all DATA frames are the same. */
    final void account(int length, boolean last) throws Http2Exception {
        if (expected >= 0) {
            expected -= length;
            if (expected < 0 || (last && expected > 0)) {
                expected = RequestHead.UNKNOWN_LENGTH;
                throw streamError("content-length and the length of the body differ");
            }
        }
    }

    final void touch() {
        if (!touched) {
            touched = true;
            context.touched().add(this);
        }
    }

    /** Netty's stream is gone: both directions have ended, or the connection has. */
    final void onClosed() {
        settle();
        if (isDead() || !isOver()) {
            fail(lost());
        } else if (touched) {
            dieAfterBatch(); // the other side is still to be flushed at the end of it
        } else {
            die();
        }
    }

    @Override
    public final void onReadComplete() {
        touched = false;
        StreamEvents told = events();
        if (isDead()) {
            events(null);
        }
        if (told != null) {
            told.onReadComplete();
        }
    }

    @Override
    public void afterReadComplete() {}

    final Http2Exception streamError(String detail) {
        Http2Stream stream = h2();
        return Http2Exception.streamError(stream == null ? 0 : stream.id(), Http2Error.PROTOCOL_ERROR, detail);
    }
}
