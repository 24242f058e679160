package dev.gateway.net.transport;

import io.netty.channel.uring.IoUringIoEvent;
import io.netty.channel.uring.IoUringIoHandle;
import io.netty.channel.uring.IoUringIoOps;
import org.jspecify.annotations.Nullable;

/**
 * A connection's multishot receive on io_uring, which continues until it is cancelled. The kernel does not cancel one
 * that has data all the time, and Netty asks only once. This asks again, and makes the kernel end each receive after
 * a number of bytes: then it begins again, or was cancelled, as far as the channel sees. Confined to the event loop.
 */
final class CappedReceive {
    /** What is still received at most once the channel wants no more; the last buffer may go beyond it. */
    static final int CAP = 256 << 10;

    // As in linux/io_uring.h and linux/errno.h.
    private static final int MORE = 1 << 1;
    private static final int NON_EMPTY = 1 << 2;
    private static final int ENOBUFS = -105;
    private static final int ECANCELED = -125;

    private final WrappedHandler.Registered<IoUringIoHandle> socket;
    private @Nullable IoUringIoOps receive; // that is under way, as far as the channel knows
    private @Nullable IoUringIoOps cancel; // of it, once the channel wants no more
    private boolean ended; // by the kernel, which the channel is being told

    CappedReceive(WrappedHandler.Registered<IoUringIoHandle> socket) {
        this.socket = socket;
    }

    /**
     * Submits what the channel wants, a receive with an end.
     *
     * @return what the channel takes for its number; 0 if the ring takes nothing any more
     */
    long submit(IoUringIoOps op) {
        if (RingOps.isMultishotReceive(op)) {
            receive = RingOps.capped(op, CAP);
            cancel = null;
            return socket.registration.submit(receive);
        }
        if (receive != null && RingOps.isCancelOfReceive(op)) {
            cancel = op;
            if (ended) {
                return 1; // any number: there is nothing to cancel
            }
        }
        return socket.registration.submit(op);
    }

    /** A receive has completed, for this time or for good. */
    void received(IoUringIoEvent completion) {
        IoUringIoOps again = receive;
        if (again == null) {
            tell(completion);
        } else if ((completion.flags() & MORE) != 0) {
            // Netty forgets who wants to read on while there is more to read, and a receive that is cancelled may end
            // at any time: so it asks after each part of one.
            tell(cancel == null ? completion : lastForNow(completion));
        } else if (completion.res() > 0) {
            long data = completion.userData(); // the ring uses its events again
            ended = true;
            try {
                tell(lastForNow(completion)); // so that handlers hear of a pause before there may be one
            } finally {
                ended = false;
            }
            if (cancel != null || socket.registration.submit(again) == 0) {
                receive = null;
                tell(canceled(data));
            }
        } else {
            receive = null;
            boolean unwanted = cancel != null && completion.res() == ENOBUFS; // which Netty would try again
            tell(unwanted ? canceled(completion.userData()) : completion);
        }
    }

    /** The kernel has answered that something is to be cancelled. */
    void cancelled(IoUringIoEvent completion) {
        if (completion.res() < 0 && completion.userData() == RingOps.RECV && receive != null && cancel != null) {
            socket.registration.submit(cancel); // it was busy, and may be waiting now
        }
        tell(completion);
    }

    /** Returns the result of an empty socket, for a receive that continues. */
    private static IoUringIoEvent lastForNow(IoUringIoEvent completion) {
        int flags = (completion.flags() | MORE) & ~NON_EMPTY;
        return new IoUringIoEvent(completion.res(), flags, RingOps.RECV, completion.userData());
    }

    private static IoUringIoEvent canceled(long data) {
        return new IoUringIoEvent(ECANCELED, 0, RingOps.RECV, data);
    }

    private void tell(IoUringIoEvent completion) {
        socket.handle.handle(socket, completion);
    }
}
