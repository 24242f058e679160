package dev.gateway.net;

import io.netty.channel.Channel;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.ThreadAwareExecutor;

/**
 * Netty's epoll, with two differences for connections. A peer's FIN is found by reading, in its turn: Netty, once told of
 * it, reads all that the kernel holds, paused or not. And a socket about which nothing is asked for a while stays known
 * to the kernel: Netty takes it out and cannot get it in again, so that a write that has to wait, or reading on after a
 * pause, fails (4.2.13 and later). Used by its event loop only.
 */
final class EpollHandler implements IoHandler {
    private final IoHandler epoll;

    private EpollHandler(IoHandler epoll) {
        this.epoll = epoll;
    }

    static IoHandlerFactory factory() {
        IoHandlerFactory epoll = EpollIoHandler.newFactory();
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new EpollHandler(epoll.newHandler(executor));
            }

            @Override
            public boolean isChangingThreadSupported() {
                return epoll.isChangingThreadSupported();
            }
        };
    }

    @Override
    public void initialize() {
        epoll.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        return epoll.run(context);
    }

    @Override
    public void prepareToDestroy() {
        epoll.prepareToDestroy();
    }

    @Override
    public void destroy() {
        epoll.destroy();
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        Registered registered = new Registered((EpollIoHandle) handle);
        registered.registration = epoll.register(registered);
        return registered;
    }

    @Override
    public void wakeup() {
        epoll.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return epoll.isCompatible(handleType);
    }

    /** A socket between its channel and epoll, either of which takes it for the other. */
    @SuppressWarnings("try") // of close(), which is the interface's
    private static final class Registered implements EpollIoHandle, IoRegistration {
        private final EpollIoHandle handle;

        @SuppressWarnings("NullAway.Init")
        IoRegistration registration; // set before the first event

        private boolean added;
        private boolean silent; // it is neither read nor written

        Registered(EpollIoHandle handle) {
            this.handle = handle;
        }

        // Towards epoll.

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
        @SuppressWarnings("TypeParameterUnusedInFormals") // the interface's
        public <T> T attachment() {
            return registration.attachment();
        }

        @Override
        public boolean isValid() {
            return registration.isValid();
        }

        @Override
        public boolean cancel() {
            return registration.cancel();
        }

        // Towards the channel.

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

        @Override
        public void registered() {
            handle.registered();
        }

        @Override
        public void unregistered() {
            handle.unregistered();
        }

        @Override
        public void close() throws Exception {
            handle.close();
        }
    }
}
