package dev.gateway.net.transport;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.uring.IoUringIoEvent;
import io.netty.channel.uring.IoUringIoHandle;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringIoOps;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Netty's io_uring, with three differences for connections. A write that has to wait after the peer's FIN continues: the
 * kernel ends every poll at once then, and Netty takes this one for another that it has had. A reset that a write has met
 * is one for the read that follows, to which the kernel says that all has been read. And a multishot receive can
 * be stopped. Used by its event loop only.
 */
final class IoUringHandler extends WrappedHandler {
    private final EventExecutor loop;

    private IoUringHandler(IoHandler ring, EventExecutor loop) {
        super(ring);
        this.loop = loop;
    }

    static IoHandlerFactory factory(ByteBufAllocator allocator) {
        return factory(
                IoUringIoHandler.newFactory(ReceiveRing.config(allocator)),
                (ring, executor) -> new IoUringHandler(ring, (EventExecutor) executor));
    }

    @Override
    Registered<?> wrap(IoHandle handle) {
        return new Socket((IoUringIoHandle) handle);
    }

    @SuppressWarnings("try") // of close(), which is the interface's
    private final class Socket extends Registered<IoUringIoHandle> implements IoUringIoHandle {
        // As in linux/io_uring.h, linux/poll.h and linux/errno.h.
        private static final byte OP_WRITEV = 2;
        private static final byte OP_POLL_ADD = 6;
        private static final byte OP_SENDMSG = 9;
        private static final byte OP_SEND = 26;
        private static final int POLLIN = 0x1;
        private static final int POLLOUT = 0x4;
        private static final int POLLRDHUP = 0x2000;
        private static final int ECONNRESET = -104;
        private static final int EPIPE = -32;

        private static final int MAX_WAIT_MILLIS = 32;

        private final @Nullable CappedReceive receive = ReceiveRing.isAvailable() ? new CappedReceive(this) : null;
        private boolean hungUp; // the channel knows of the peer's FIN
        private boolean reset; // a write has met it
        private int waitMillis = 1; // until a write is tried again

        Socket(IoUringIoHandle handle) {
            super(handle);
        }

        @Override
        public long submit(IoOps ops) {
            return receive == null ? super.submit(ops) : receive.submit((IoUringIoOps) ops);
        }

        @Override
        public void handle(IoRegistration from, IoEvent event) {
            IoUringIoEvent completion = (IoUringIoEvent) event;
            int result = completion.res();
            switch (completion.opcode()) {
                case OP_POLL_ADD -> {
                    if (result > 0 && (result & (POLLRDHUP | POLLIN | POLLOUT)) == POLLRDHUP && isRepeated()) {
                        writeLater(with(completion, POLLOUT)); // the ring uses its events again
                        return;
                    }
                }
                case OP_WRITEV, OP_SENDMSG, OP_SEND -> {
                    reset |= result == ECONNRESET || result == EPIPE;
                    waitMillis = result > 0 ? 1 : waitMillis;
                }
                case RingOps.RECV -> {
                    IoUringIoEvent read = reset && result == 0 ? with(completion, ECONNRESET) : completion;
                    if (receive == null) {
                        handle.handle(this, read);
                    } else {
                        receive.received(read);
                    }
                    return;
                }
                case RingOps.ASYNC_CANCEL -> {
                    if (receive != null) {
                        receive.cancelled(completion);
                        return;
                    }
                }
                default -> {}
            }
            handle.handle(this, event);
        }

        /** The channel waits for a FIN once; any other poll that reports only a FIN was waiting for room to write. */
        private boolean isRepeated() {
            boolean before = hungUp;
            hungUp = true;
            return before;
        }

        private void writeLater(IoUringIoEvent writable) {
            if (loop.isShuttingDown()) {
                return; // whatever is open is closed
            }
            loop.schedule(
                    () -> {
                        if (registration.isValid()) {
                            handle.handle(this, writable);
                        }
                    },
                    waitMillis,
                    TimeUnit.MILLISECONDS);
            waitMillis = Math.min(waitMillis * 2, MAX_WAIT_MILLIS);
        }

        private static IoUringIoEvent with(IoUringIoEvent completion, int result) {
            return new IoUringIoEvent(result, completion.flags(), completion.opcode(), completion.userData());
        }
    }
}
