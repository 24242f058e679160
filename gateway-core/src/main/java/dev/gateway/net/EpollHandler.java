package dev.gateway.net;

import io.netty.channel.Channel;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;

/**
 * Netty's epoll, with two differences for connections. A peer's FIN is found by reading, in its turn: Netty, once told of
 * it, reads all that the kernel holds, paused or not. And a socket about which nothing is asked for a while stays known
 * to the kernel: Netty takes it out and cannot get it in again, so that a write that has to wait, or reading on after a
 * pause, fails (4.2.13 and later). Used by its event loop only.
 */
final class EpollHandler extends WrappedHandler {
    private EpollHandler(IoHandler epoll) {
        super(epoll);
    }

    static IoHandlerFactory factory() {
        return factory(EpollIoHandler.newFactory(), (epoll, executor) -> new EpollHandler(epoll));
    }

    @Override
    Registered<?> wrap(IoHandle handle) {
        return new Socket((EpollIoHandle) handle);
    }

    @SuppressWarnings("try") // of close(), which is the interface's
    private static final class Socket extends Registered<EpollIoHandle> implements EpollIoHandle {
        private boolean added;
        private boolean silent; // it is neither read nor written

        Socket(EpollIoHandle handle) {
            super(handle);
        }

        @Override
        public long submit(IoOps wanted) {
            EpollIoOps ops = ((EpollIoOps) wanted).without(EpollIoOps.EPOLLRDHUP);
            boolean none = ops.equals(EpollIoOps.NONE);
            added |= !wanted.equals(EpollIoOps.NONE);
            silent = none && added;
            // Errors and hang-ups are told whatever is asked; edge-triggered they are told once, not all the time.
            return registration.submit(silent ? EpollIoOps.EPOLLET : ops);
        }

        @Override
        public FileDescriptor fd() {
            return handle.fd();
        }

        @Override
        public void handle(IoRegistration from, IoEvent event) {
            if (silent
                    && handle instanceof Channel.Unsafe channel
                    && ((EpollIoEvent) event).ops().contains(EpollIoOps.EPOLLERR)) {
                channel.close(
                        channel.voidPromise()); // a reset, which a channel that neither reads nor writes would miss
            } else {
                handle.handle(this, event);
            }
        }
    }
}
