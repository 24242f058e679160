package dev.gateway.http2;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.overload.Cost;
import dev.gateway.overload.DirectMemory;
import dev.gateway.overload.Stalled;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Stream;
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
 * does nothing but release what it is given, and no event follows.
 */
abstract class MultiplexedStream implements Stream {
    /** What may wait here for a flush and for the peer's window, however large the peer makes that; more is no room. */
    private static final int MAX_UNSENT = 64 * 1024;

    /** The same while memory is scarce. */
    private static final int MAX_UNSENT_SCANT = 16 * 1024;

    /** A body's piece up to here is copied: it would keep the buffer it was read into, of up to 512 KiB, from reuse. */
    private static final int COPIED = 2048;

    /** So many short pieces of a stream may wait without being charged: they are a part of what a stream costs. */
    private static final int FREE_PIECES = 16;

    /** What is received before anybody asks how fast: less is over before a window could grow. */
    private static final int WINDOWFUL = 256 * 1024;

    final MultiplexedConnection connection;
    private @Nullable Http2Stream h2; // null until the head of a request to upstream was sent
    private @Nullable StreamEvents events; // null while nobody is to be told anything
    private int untilWindowful = WINDOWFUL; // bytes to be received before it may need more window
    private WindowGrowth.@Nullable Need need; // null until then
    private int untaken; // bytes handed on that were not consumed yet, unless it has failed
    private int tinyHeld; // tiny pieces handed on since the last credit
    private int shortHeld; // short pieces handed on since the last credit; those beyond FREE_PIECES are charged
    private int unsent; // bytes handed over and not written to the channel
    private boolean localEnded; // we were handed the last of what we send
    private boolean remoteEnded;
    private boolean dead; // reset by either side, or the connection is gone
    private boolean paused; // was seen not writable, so is to be told when that changes
    private boolean touched; // is on the connection's list of streams to tell of read-complete
    private long expected = RequestHead.UNKNOWN_LENGTH; // bytes of body still to come
    private @Nullable Failure early; // why it failed before anybody was to be told
    private @Nullable StallTimer stallTimer;
    private @Nullable Unsent waiting; // made when the last of it was handed over, and the peer had no room

    MultiplexedStream(MultiplexedConnection connection) {
        this.connection = connection;
    }

    /** Joins this to Netty's stream. */
    final void attach(Http2Stream stream) {
        h2 = stream;
        connection.attach(stream, this);
    }

    final void events(@Nullable StreamEvents events) {
        this.events = events;
    }

    final @Nullable StreamEvents events() {
        return events;
    }

    final @Nullable Failure early() {
        return early;
    }

    final @Nullable Http2Stream h2() {
        return h2;
    }

    final boolean isDead() {
        return dead;
    }

    final boolean isLocalEnded() {
        return localEnded;
    }

    final boolean isRemoteEnded() {
        return remoteEnded;
    }

    final void localEnded() {
        localEnded = true;
        afterLocalEnd();
    }

    final void remoteEnded() {
        remoteEnded = true;
    }

    final void expect(long length) {
        expected = length;
    }

    /** The last of what we send was handed over; it may still wait for the peer's window. */
    abstract void afterLocalEnd();

    /** Something of its body or of its end was received. */
    void onProgress() {}

    /** DATA was received, with or without anything in it. */
    void checkDataMayCome() throws Http2Exception {}

    /** What the stream's failing means, the reason being the peer's code. */
    abstract Failure resetByPeer(long errorCode);

    /** What it means that the peer broke the rules on this stream. */
    abstract Failure malformed(String detail);

    /** What it means that the stream was closed with the connection. */
    abstract Failure lost();

    /** What it means that the peer takes nothing of what waits for it. */
    abstract Failure stalled();

    /** The code that tells the peer of a failure. */
    abstract Http2Error errorCode(Failure failure);

    /** Whether no event follows. */
    abstract boolean isOver();

    /** Whether there is nothing left to reset. */
    abstract boolean isDone();

    // What the gateway does to the peer.

    @Override
    public final void data(ByteBuf data, boolean last) {
        Http2Stream stream = h2;
        if (dead || localEnded || stream == null || !(last || data.isReadable())) {
            data.release();
            return;
        }
        if (last) {
            localEnded();
        }
        unsent += data.readableBytes();
        connection.enqueue(stream, new PendingData(this, data, last));
        if (last) {
            watchRest(stream);
        }
    }

    /** All was handed over, so that nobody asks any more whether the peer has room for it. */
    private void watchRest(Http2Stream stream) {
        if (connection.hasPending(stream) && !connection.isWritable(stream)) {
            armStallTimer();
            holdUnsent();
        }
    }

    @Override
    public final void trailers(Fields trailers) {
        Http2Stream stream = h2;
        if (dead || localEnded || stream == null) {
            return;
        }
        localEnded();
        if (connection.hasPending(stream)) {
            connection.enqueue(stream, new PendingTrailers(this, trailers));
            watchRest(stream);
        } else {
            writeTrailers(trailers);
        }
    }

    final void writeTrailers(Fields trailers) {
        Http2Stream stream = h2;
        if (stream != null) {
            connection.writeTrailers(stream, trailers);
        }
    }

    final void writeData(ChannelHandlerContext ctx, ByteBuf data, boolean last) {
        if (stallTimer != null) {
            stallTimer.onProgress();
        }
        unsent -= data.readableBytes();
        Http2Stream stream = h2;
        if (stream == null) {
            data.release();
        } else {
            connection.writeData(ctx, stream, data, last);
        }
    }

    final void closeLocal() {
        cancelStallTimer();
        Http2Stream stream = h2;
        if (stream != null) {
            connection.closeLocal(stream);
        }
    }

    @Override
    public final void flush() {
        connection.requestFlush();
    }

    @Override
    public final boolean isWritable() {
        Http2Stream stream = h2;
        if (dead || localEnded || stream == null || hasRoom(stream)) {
            return true;
        }
        if (!paused) {
            paused = true;
            connection.paused(this);
            connection.observer.onFlowControlPaused();
            armStallTimer();
        }
        return false;
    }

    @Override
    public final void consumed(int bytes) {
        Http2Stream stream = h2;
        settle();
        untaken -= bytes;
        if (stream != null && bytes > 0) {
            connection.windows().consumed(stream, bytes);
            if (!dead) {
                onConsumed(stream);
            }
        }
    }

    @Override
    public final void reset(Failure failure) {
        if (!dead && !isDone()) {
            onGivenUp();
            connection.reset(this, errorCode(failure));
        }
    }

    /** Ends it here without telling anybody: the caller does. */
    final void die() {
        dead = true;
        untaken = 0; // whoever has it lets go of it
        settle();
        events = null;
        cancelTimers();
        onDying();
    }

    /** Bytes of its body were taken. */
    void onConsumed(Http2Stream stream) {}

    /** We are about to reset it. */
    void onGivenUp() {}

    /** It ends, maybe before it began. */
    void onDying() {}

    void cancelTimers() {
        cancelStallTimer();
    }

    // What the peer does.

    /** Takes a DATA frame's payload, which is lent; returns how many bytes nobody will consume later. */
    final int onData(ByteBuf data, boolean last) throws Http2Exception {
        int length = data.readableBytes();
        StreamEvents told = events;
        if (told != null) {
            checkDataMayCome(); // before anything says that the message has ended: it has not begun
        }
        account(length, last);
        untilWindowful -= length;
        if (last) {
            remoteEnded = true;
        } else if (untilWindowful <= 0) {
            onWindowful();
        }
        if (told == null) {
            return length;
        }
        if (length > 0 || last) {
            onProgress();
            if (!mayHold(length)) {
                connection.cut(this, "no memory is left for a body in so many pieces");
                return 0; // closing gave all bytes back
            }
            if (length < FloodGuard.TINY) {
                connection.guard().onTinyHeld();
                tinyHeld++;
            }
            touch();
            untaken += length;
            told.onData(length == 0 ? Unpooled.EMPTY_BUFFER : isCopied(length) ? copy(data) : data.retain(), last);
        }
        return 0;
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
        if (shortHeld >= FREE_PIECES && !connection.account().tryCharge(Cost.PIECE)) {
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
        Http2Stream stream = h2;
        if (stream != null) {
            untilWindowful += connection.growth().onWindowful(known, stream);
        }
    }

    /** Gives back how much window it was given beyond what it had before. */
    final void giveBack() {
        if (need != null) {
            connection.growth().giveBack(need.grown(), untaken);
        }
    }

    private ByteBuf copy(ByteBuf data) {
        int length = data.readableBytes();
        return connection.context().alloc().buffer(length).writeBytes(data, data.readerIndex(), length);
    }

    private void settle() {
        if (shortHeld > FREE_PIECES) {
            connection.account().release((shortHeld - FREE_PIECES) * Cost.PIECE);
        }
        shortHeld = 0;
        if (tinyHeld > 0) {
            connection.guard().onTinyGone(tinyHeld);
            tinyHeld = 0;
        }
    }

    final void onTrailers(Fields trailers) throws Http2Exception {
        account(0, true);
        remoteEnded = true;
        StreamEvents told = events;
        if (told != null) {
            onProgress();
            touch();
            told.onTrailers(trailers);
        }
    }

    /** RFC 9113, section 8.1.1: the announced length and that of all DATA frames are the same. */
    final void account(int length, boolean last) throws Http2Exception {
        if (expected >= 0) {
            expected -= length;
            if (expected < 0 || (last && expected > 0)) {
                expected = RequestHead.UNKNOWN_LENGTH;
                throw connection.streamError(this, "content-length and the length of the body differ");
            }
        }
    }

    final void touch() {
        if (!touched) {
            touched = true;
            connection.touched(this);
        }
    }

    /** Netty's stream is gone: both directions have ended, or the connection has. */
    final void onClosed() {
        settle();
        if (dead || !isOver()) {
            fail(lost());
        } else if (touched) {
            dead = true; // but the other side is still to be flushed at the end of this batch
            cancelTimers();
        } else {
            die();
        }
    }

    final void onReadComplete() {
        touched = false;
        StreamEvents told = events;
        if (dead) {
            events = null;
        }
        if (told != null) {
            told.onReadComplete();
        }
    }

    /** Whether it need not wait any more: it may write, or has nothing more to write. */
    final boolean mayResume() {
        Http2Stream stream = h2;
        return dead || localEnded || stream == null || hasRoom(stream);
    }

    private boolean hasRoom(Http2Stream stream) {
        return (unsent == 0 || unsent < maxUnsent()) && connection.isWritable(stream);
    }

    private static int maxUnsent() {
        return switch (DirectMemory.supply()) {
            case AMPLE, MODERATE -> MAX_UNSENT;
            case SCARCE -> MAX_UNSENT_SCANT;
            case RESERVE -> 1;
        };
    }

    final void resume() {
        paused = false;
        StreamEvents told = events;
        if (!localEnded && !dead) {
            cancelStallTimer();
            if (told != null) {
                told.onWritable();
            }
        }
    }

    /** Tells the end that no message had: the stream has failed, and the other end needs no telling. */
    final void fail(Failure failure) {
        if (dead) {
            return;
        }
        boolean over = isOver();
        StreamEvents told = events;
        die();
        if (over) {
            return;
        }
        if (told != null) {
            told.onReset(failure);
        } else {
            early = failure;
        }
    }

    // The peer that takes nothing.

    private void armStallTimer() {
        if (connection.writeIdleMillis() > 0) {
            StallTimer timer = stallTimer;
            if (timer == null) {
                timer = new StallTimer(this);
                stallTimer = timer;
            }
            timer.arm();
        }
    }

    /** Limits the wait of what was handed over, if nobody does. */
    final void watchUnsent() {
        Http2Stream stream = h2;
        if (!dead && localEnded && stream != null && connection.hasPending(stream)) {
            StallTimer timer = stallTimer;
            if (timer == null || !timer.isArmed()) {
                armStallTimer();
            }
            if (!connection.isWritable(stream)) {
                holdUnsent();
            }
        }
    }

    /** From here on nobody but this stream answers for what waits. */
    private void holdUnsent() {
        Unsent made = waiting;
        if (made == null) {
            made = new Unsent();
            waiting = made;
        }
        made.stall();
    }

    /** What a stream holds whose end was handed over, so that no exchange waits for it any more. */
    private final class Unsent extends Stalled.Holder {
        @Override
        protected long held() {
            return unsent;
        }

        @Override
        protected Object culprit() {
            return connection.culprit();
        }

        @Override
        protected void cut() {
            connection.cut(MultiplexedStream.this, "direct memory ran low, and what was sent was not taken");
        }
    }

    private void cancelStallTimer() {
        if (waiting != null) {
            waiting.resume();
        }
        if (stallTimer != null) {
            stallTimer.cancel();
        }
    }
}
