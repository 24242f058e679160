package dev.gateway.protocol.http2;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.stream.Cause;
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
 * One half of an exchange on a stream of HTTP/2: both directions, which of them have ended, and how it fails. Each direction
 * ends once. After both have, or after a reset either way, every call does nothing but release what it is given, and no
 * event follows. What is handed over to be sent waits in Netty's flow controller, which owns its buffers from then on. Made
 * by its connection, called on its event loop; kept as a property of Netty's stream until that closes.
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

    /** What is received before its speed is measured: less is over before a window could grow. */
    private static final int WINDOWFUL = 256 * 1024;

    final StreamContext context;
    private Account account; // the connection's, or that of the client whose request it is
    private @Nullable Http2Stream h2; // null until the head of a request to upstream was sent
    private @Nullable StreamEvents events; // null before and after the exchange
    private StreamState state = StreamState.OPEN;
    private boolean dead; // reset by either side, or the connection is gone
    private boolean paused; // was seen not writable, so is to be told when that changes
    private int unsent; // bytes handed over and not written to the channel
    private long held; // bytes of memory of those pieces
    private @Nullable PendingData newest; // the last piece that was handed over
    private @Nullable Failure early; // why it failed before the exchange had events
    private @Nullable StallWatch stall; // made when the peer had no room for the first time
    private int untilWindowful = WINDOWFUL; // bytes to be received before it may need more window
    private WindowGrowth.@Nullable Need need; // null until then
    private int untaken; // bytes handed on that were not consumed yet, unless it has failed
    private int tinyHeld; // tiny pieces handed on since the last credit
    private int shortHeld; // short pieces handed on since the last credit; those beyond FREE_PIECES are charged
    private boolean touched; // is among those that hear of read-complete
    private long expected = RequestHead.UNKNOWN_LENGTH; // bytes of body still to come

    MultiplexedStream(StreamContext context) {
        this.context = context;
        this.account = context.account();
    }

    /** Returns what is charged for what it holds. */
    final Account account() {
        return account;
    }

    /** Charges another account from now on; nothing may be charged to the one before. */
    final void account(Account other) {
        account = other;
    }

    /** Attaches Netty's stream. */
    final void attach(Http2Stream stream) {
        h2 = stream;
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
        return state.isLocalEnded();
    }

    final boolean isRemoteEnded() {
        return state.isRemoteEnded();
    }

    final void localEnded() {
        state = state.withLocalEnded();
        afterLocalEnd();
    }

    final void remoteEnded() {
        state = state.withRemoteEnded();
    }

    /** So many bytes of body are to come. */
    final void expect(long length) {
        expected = length;
    }

    // What streams of a client and of an upstream do differently.

    /** The last of what we send was handed over; it may still wait for the peer's window. */
    void afterLocalEnd() {}

    /** Returns how many bytes of heap trailers take while they wait here, unless something else is charged for them. */
    long heldAlone(Fields trailers) {
        return trailers.heldBytes();
    }

    /**
     * A head or trailers were handed to the socket.
     *
     * @param bytes how many they take, 0 if the connection has failed instead
     */
    void onFieldsWritten(int bytes) {}

    /** What it means that the peer takes nothing of what waits for it. */
    abstract Failure stalled();

    /** The code that tells the peer of a failure. */
    abstract Http2Error errorCode(Failure failure);

    /** Whether no event follows. */
    abstract boolean isOver();

    /** Whether there is nothing left to reset. */
    abstract boolean isDone();

    /** We are about to reset it. */
    void onGivenUp() {}

    /** It has ended, maybe before it began. */
    void onDying() {}

    void cancelTimers() {
        endStall();
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

    /** So many bytes of an unwanted body have come, and were dropped. */
    void onDropped(int bytes) {}

    /** The batch of frames is complete, and all streams were told. */
    void afterReadComplete() {}

    /** What the stream's failing means, the reason being the peer's code. */
    abstract Failure resetByPeer(long errorCode);

    /** What it means that the peer broke the rules on this stream. */
    abstract Failure malformed(String detail);

    /** What it means that the stream was closed with the connection. */
    abstract Failure lost();

    // What the gateway does to the peer.

    @Override
    public final void data(ByteBuf data, boolean last) {
        Http2Stream stream = h2;
        if (dead || isLocalEnded() || stream == null || !(last || data.isReadable())) {
            data.release();
            return;
        }
        if (last) {
            localEnded();
        }
        long before = last ? heldMemory() : 0;
        unsent += data.readableBytes();
        PendingData piece = context.sender().takesAll(stream, unsent)
                ? PendingData.leaving(this, data, last)
                : PendingData.waiting(this, data, last);
        held += piece.room() + (newest == null ? 0 : newest.settle());
        newest = piece;
        context.sender().enqueue(stream, piece);
        if (last && isStuck(stream)) {
            holdUnsent(stream, piece.heapBytes(), before + piece.directBytes());
        }
    }

    @Override
    public final void trailers(Fields trailers) {
        if (trailers.size() == 0) {
            data(Unpooled.EMPTY_BUFFER, true); // some clients do not expect a field block without a field
            return;
        }
        Http2Stream stream = h2;
        if (dead || isLocalEnded() || stream == null) {
            return;
        }
        localEnded();
        if (context.sender().hasPending(stream)) {
            context.sender().enqueue(stream, PendingData.trailers(this, trailers));
            if (isStuck(stream)) {
                holdUnsent(stream, heldAlone(trailers), heldMemory());
            }
        } else {
            writeTrailers(trailers);
        }
    }

    /** Writes trailers, which end the message. */
    final void writeTrailers(Fields trailers) {
        endStall();
        Http2Stream stream = h2;
        if (stream != null) {
            onFieldsWritten(context.sender().trailers(stream, trailers));
        }
    }

    /** Two pieces were merged, and have this number of bytes of memory more, or less. */
    final void onMerged(int more) {
        held += more;
    }

    /**
     * Writes what fits the window.
     *
     * @param data owned by this method
     * @param room bytes of memory that are not waiting any more
     */
    final void writeData(ChannelHandlerContext ctx, ByteBuf data, int room, boolean last) {
        if (stall != null) {
            stall.onProgress();
        }
        unsent -= data.readableBytes();
        held -= room;
        Http2Stream stream = h2;
        if (stream == null) {
            data.release();
        } else {
            context.sender().data(ctx, stream, data, last);
        }
    }

    /** The last of the body was written. */
    final void closeLocal() {
        endStall();
        Http2Stream stream = h2;
        if (stream != null) {
            context.sender().closeLocal(stream);
        }
    }

    @Override
    public final void flush() {
        context.flushes().request();
    }

    @Override
    public final boolean isWritable() {
        if (mayResume()) {
            return true;
        }
        if (!paused) {
            paused = true;
            context.streams().pause(this);
            context.observer().onFlowControlPaused();
            Http2Stream stream = h2;
            if (stream != null && context.writeIdleMillis() > 0) {
                stall(stream).arm();
            }
        }
        return false;
    }

    @Override
    public final long unsent() {
        return heldMemory();
    }

    /** Whether it need not wait any more: it may write, or has nothing more to write. */
    final boolean mayResume() {
        Http2Stream stream = h2;
        return dead || isLocalEnded() || stream == null || hasRoom(stream);
    }

    private boolean hasRoom(Http2Stream stream) {
        return (unsent == 0 || unsent < maxUnsent()) && context.sender().isWritable(stream);
    }

    private static int maxUnsent() {
        return switch (DirectMemory.supply()) {
            case AMPLE, MODERATE -> MAX_UNSENT;
            case SCARCE -> MAX_UNSENT_SCANT;
            case RESERVE -> 1;
        };
    }

    /** It need not wait for room any more. */
    final void resume() {
        paused = false;
        StreamEvents told = events;
        if (!isLocalEnded() && !dead) {
            endStall();
            if (told != null) {
                told.onWritable();
            }
        }
    }

    // How it ends.

    @Override
    public final void reset(Failure failure) {
        if (!dead && !isDone()) {
            onGivenUp();
            end(errorCode(failure));
        }
    }

    /** Ends it in both directions, and tells the peer. */
    final void end(Http2Error error) {
        die();
        Http2Stream stream = h2;
        if (stream != null) {
            context.sender().reset(stream, error);
        }
    }

    /** Ends it here without telling anybody: the caller does. */
    final void die() {
        dead = true;
        releaseReceived();
        events = null;
        cancelTimers();
        onDying();
    }

    /** Its last batch of events is still to be completed, and nothing else follows. */
    final void dieAfterBatch() {
        dead = true;
        cancelTimers();
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

    /** Ends it for lack of memory. */
    final void cut(String detail) {
        fail(Failure.of(Cause.OVERLOAD, detail));
        end(Http2Error.ENHANCE_YOUR_CALM);
    }

    // The peer that takes nothing.

    /** The peer has taken nothing for as long as it may. */
    final void onStalled() {
        context.observer().onViolation(Http2Violation.STALLED_READER.kind());
        fail(stalled());
        end(Http2Error.CANCEL);
    }

    private StallWatch stall(Http2Stream stream) {
        StallWatch made = stall;
        if (made == null) {
            made = new StallWatch(this, stream);
            stall = made;
        }
        return made;
    }

    /** Returns the bytes of memory of the pieces that wait. */
    final long held() {
        return held;
    }

    /** Returns about how many bytes of memory what waits takes. The newest piece may still share its buffer with others. */
    private long heldMemory() {
        return held + (newest == null ? 0 : newest.unsettled());
    }

    /** Whether what was handed over waits for the peer. */
    private boolean isStuck(Http2Stream stream) {
        return context.sender().hasPending(stream) && !context.sender().isWritable(stream);
    }

    /** Limits the wait of what was handed over, if nothing does yet. */
    final void watchUnsent() {
        Http2Stream stream = h2;
        if (!dead && isLocalEnded() && stream != null && context.sender().hasPending(stream)) {
            if (stall == null || !stall.isArmed()) {
                stall(stream).arm();
            }
            if (!context.sender().isWritable(stream)) {
                holdUnsent(stream, Cost.PIECE, heldMemory());
            }
        }
    }

    /** All was handed over, so that no exchange answers for what waits. */
    private void holdUnsent(Http2Stream stream, long heap, long direct) {
        if (!dead) {
            stall(stream).hold(heap, direct);
        }
    }

    private void endStall() {
        if (stall != null) {
            stall.end();
        }
    }

    // What the gateway takes.

    @Override
    public final void consumed(int bytes) {
        Http2Stream stream = h2;
        settle();
        int owed = Math.min(bytes, untaken); // once it has failed, closing gives all of it back
        untaken -= owed;
        if (stream != null && owed > 0) {
            context.windows().consumed(stream, owed);
            if (!dead) {
                onConsumed(stream);
            }
        }
    }

    /** The body is unwanted: returns the credit for what was handed on. */
    final void consumedAll() {
        consumed(untaken);
    }

    /** Forgets what it has received; the caller releases it. */
    private void releaseReceived() {
        untaken = 0;
        settle();
    }

    /** What was handed on since the last credit is held no more. */
    private void settle() {
        if (shortHeld > FREE_PIECES) {
            account.release((shortHeld - FREE_PIECES) * Cost.PIECE);
        }
        shortHeld = 0;
        if (tinyHeld > 0) {
            context.guard().onTinyGone(tinyHeld);
            tinyHeld = 0;
        }
    }

    // What the peer does.

    /** Takes a DATA frame's payload, which is lent; returns how many of its bytes need no later credit. */
    final int onData(ChannelHandlerContext ctx, ByteBuf data, boolean last) throws Http2Exception {
        int length = data.readableBytes();
        StreamEvents told = events;
        if (told != null) {
            checkDataMayCome(); // before anything says that the message has ended: it has not begun
        }
        boolean meansNothing = isBodiless();
        countBody(meansNothing ? 0 : length, last);
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
        Http2Stream stream = h2;
        if (!last && stream != null && !dead) { // else the exchange has reset it, as its request had not ended
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
        if (shortHeld >= FREE_PIECES && !account.tryCharge(Cost.PIECE)) {
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
        countBody(0, true);
        remoteEnded();
        StreamEvents told = events;
        if (told != null) {
            onProgress();
            touch();
            told.onTrailers(headers.fields());
        }
    }

    /** RFC 9113, section 8.1.1: the announced length and that of all DATA frames are the same. */
    final void countBody(int length, boolean last) throws Http2Exception {
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
            context.streams().touch(this);
        }
    }

    /** Netty's stream is gone: both directions have ended, or the connection has. */
    final void onClosed() {
        settle();
        if (dead || !isOver()) {
            fail(lost());
        } else if (touched) {
            dieAfterBatch(); // the other side is still to be flushed at the end of it
        } else {
            die();
        }
    }

    /** The batch of frames is complete. */
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

    final Http2Exception streamError(String detail) {
        Http2Stream stream = h2;
        return Http2Exception.streamError(stream == null ? 0 : stream.id(), Http2Error.PROTOCOL_ERROR, detail);
    }
}
