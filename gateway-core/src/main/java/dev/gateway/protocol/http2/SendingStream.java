package dev.gateway.protocol.http2;

import dev.gateway.message.Fields;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Stream;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a stream, and its life: its observers, which directions have ended, and how it fails. What is
 * handed over waits in Netty's flow controller, which owns its buffers from then on. Called on the connection's event loop.
 */
abstract class SendingStream implements Stream, PausedStreams.Member, PendingData.Owner, StallTimer.Owner {
    /** What may wait here for a flush and for the peer's window, however large the peer makes that; more is no room. */
    private static final int MAX_UNSENT = 64 * 1024;

    /** The same while memory is scarce. */
    private static final int MAX_UNSENT_SCANT = 16 * 1024;

    final StreamContext context;
    private Account account; // the connection's, or that of the client whose request it is
    private @Nullable Http2Stream h2; // null until the head of a request to upstream was sent
    private @Nullable StreamEvents events; // null while nobody is to be told anything
    private StreamState state = StreamState.OPEN;
    private boolean dead; // reset by either side, or the connection is gone
    private boolean paused; // was seen not writable, so is to be told when that changes
    private int unsent; // bytes handed over and not written to the channel
    private long held; // bytes of memory of those pieces
    private @Nullable PendingData newest; // the last piece that was handed over
    private @Nullable Failure early; // why it failed before anybody was to be told
    private @Nullable StallTimer stallTimer;
    private @Nullable Unsent waiting; // made when the last of it was handed over, and the peer had no room

    SendingStream(StreamContext context) {
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

    /** Has Netty's stream from here on. */
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

    /** The last of what we send was handed over; it may still wait for the peer's window. */
    void afterLocalEnd() {}

    /** Returns how many bytes of heap trailers take while they wait here, if nobody else holds and is charged for them. */
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

    /** It ends: what it has of the peer's bytes is somebody else's matter. */
    abstract void letGo();

    /** It has ended, maybe before it began. */
    void onDying() {}

    void cancelTimers() {
        cancelStallTimer();
    }

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
            holdUnsent(piece.heapBytes(), before + piece.directBytes());
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
            context.sender().enqueue(stream, new PendingTrailers(this::writeTrailers, trailers));
            if (isStuck(stream)) {
                holdUnsent(heldAlone(trailers), heldMemory());
            }
        } else {
            writeTrailers(trailers);
        }
    }

    private void writeTrailers(Fields trailers) {
        cancelStallTimer();
        Http2Stream stream = h2;
        if (stream != null) {
            onFieldsWritten(context.sender().trailers(stream, trailers));
        }
    }

    @Override
    public final void onMerged(int more) {
        held += more;
    }

    @Override
    public final void writeData(ChannelHandlerContext ctx, ByteBuf data, int room, boolean last) {
        if (stallTimer != null) {
            stallTimer.onProgress();
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

    @Override
    public final void closeLocal() {
        cancelStallTimer();
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
            context.paused().add(this);
            context.observer().onFlowControlPaused();
            armStallTimer();
        }
        return false;
    }

    @Override
    public final long unsent() {
        return heldMemory();
    }

    /** Whether it need not wait any more: it may write, or has nothing more to write. */
    @Override
    public final boolean mayResume() {
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

    @Override
    public final void resume() {
        paused = false;
        StreamEvents told = events;
        if (!isLocalEnded() && !dead) {
            cancelStallTimer();
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
        letGo();
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

    @Override
    public final boolean hasWindow() {
        Http2Stream stream = h2;
        return stream != null && context.sender().hasWindow(stream);
    }

    @Override
    public final long dataWritten() {
        return context.sender().dataWritten();
    }

    @Override
    public final void onStalled() {
        context.observer().onViolation(Http2Violation.STALLED_READER.kind());
        fail(stalled());
        end(Http2Error.CANCEL);
    }

    private void armStallTimer() {
        if (context.writeIdleMillis() > 0) {
            StallTimer timer = stallTimer;
            if (timer == null) {
                timer = new StallTimer(this, context.timers(), context.writeIdleMillis());
                stallTimer = timer;
            }
            timer.arm();
        }
    }

    /** Returns about how many bytes of memory what waits takes. The newest piece may still share its buffer with others. */
    private long heldMemory() {
        return held + (newest == null ? 0 : newest.unsettled());
    }

    /** Whether what was handed over waits for the peer. */
    private boolean isStuck(Http2Stream stream) {
        return context.sender().hasPending(stream) && !context.sender().isWritable(stream);
    }

    /** Limits the wait of what was handed over, if nobody does. */
    final void watchUnsent() {
        Http2Stream stream = h2;
        if (!dead && isLocalEnded() && stream != null && context.sender().hasPending(stream)) {
            StallTimer timer = stallTimer;
            if (timer == null || !timer.isArmed()) {
                armStallTimer();
            }
            if (waiting == null && !context.sender().isWritable(stream)) {
                holdUnsent(Cost.PIECE, heldMemory());
            }
        }
    }

    /**
     * All was handed over. From here on nobody but this stream answers for what waits: no exchange asks whether the peer has
     * room, and none is charged.
     *
     * @param heap the bytes of heap that wait
     * @param direct the bytes of direct memory that wait
     */
    private void holdUnsent(long heap, long direct) {
        if (!isDead() && waiting == null) {
            armStallTimer();
            waiting = new Unsent(heap, direct);
            waiting.stall();
        }
    }

    private void cancelStallTimer() {
        if (waiting != null) {
            waiting.end();
            waiting = null;
        }
        if (stallTimer != null) {
            stallTimer.cancel();
        }
    }

    /** What a stream holds whose end was handed over, so that no exchange waits for it any more. */
    private final class Unsent extends StalledPeers.Holder {
        private final long heap;
        private final long direct;

        Unsent(long heap, long direct) {
            this.heap = heap;
            this.direct = direct;
            account.join();
            account.charge(heap);
            account.waitingBodies().charge(direct);
        }

        /** All was written or dropped. */
        void end() {
            resume();
            account.release(heap);
            account.waitingBodies().release(direct);
            account.leave();
        }

        @Override
        protected long held() {
            return held;
        }

        @Override
        protected long heldHeap() {
            return heap + Cost.STREAM;
        }

        @Override
        protected Object culprit() {
            Object client = account.client();
            return client == null ? context.culprit() : client;
        }

        @Override
        protected void cut() {
            SendingStream.this.cut("memory ran low, and what was sent was not taken");
        }
    }
}
