package dev.gateway.protocol.http2;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.time.Timer;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/**
 * Write idle timeout of a stream: ends it if its peer takes nothing of what waits for it. Charges what waits once all was
 * handed over, as no exchange answers for it then. Part of the stream, made when something first waits.
 */
final class StallWatch extends Timer {
    private final MultiplexedStream stream;
    private final Http2Stream h2;
    private final StreamContext context;
    private boolean progressed; // bytes left since it was armed
    private long othersBefore; // bytes that the connection had sent when it was armed
    private @Nullable Unsent unsent; // null until all was handed over

    StallWatch(MultiplexedStream stream, Http2Stream h2) {
        this.stream = stream;
        this.h2 = h2;
        this.context = stream.context;
    }

    /** The peer has time from now on, if its time is limited. */
    void arm() {
        if (context.writeIdleMillis() > 0) {
            progressed = false;
            othersBefore = context.sender().dataWritten();
            context.timers().arm(this, context.writeIdleMillis());
        }
    }

    void onProgress() {
        progressed = true;
    }

    /**
     * All was handed over: charges what waits, unless it is charged.
     *
     * @param heap the bytes of heap that wait
     * @param direct the bytes of direct memory that wait
     */
    void hold(long heap, long direct) {
        if (unsent == null) {
            arm();
            Unsent made = new Unsent(stream.account(), heap, direct);
            unsent = made;
            made.stall();
        }
    }

    /** The peer has room, or all was written or dropped. */
    void end() {
        cancel();
        if (unsent != null) {
            unsent.end();
            unsent = null;
        }
    }

    /** Whether the peer takes bytes, of this stream or of others whose turn it is. */
    private boolean isPeerTaking() {
        return progressed
                || (context.sender().dataWritten() != othersBefore
                        && context.sender().hasWindow(h2));
    }

    @Override
    protected void onExpired() {
        if (isPeerTaking()) {
            arm();
        } else {
            stream.onStalled();
        }
    }

    /** What waits of a stream whose end was handed over. */
    private final class Unsent extends StalledPeers.Holder {
        private final Account account;
        private final long heap;
        private final long direct;

        Unsent(Account account, long heap, long direct) {
            this.account = account;
            this.heap = heap;
            this.direct = direct;
            account.join();
            account.charge(heap);
            account.waitingBodies().charge(direct);
        }

        void end() {
            resume();
            account.release(heap);
            account.waitingBodies().release(direct);
            account.leave();
        }

        @Override
        protected long held() {
            return stream.held();
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
            stream.cut("memory ran low, and what was sent was not taken");
        }
    }
}
