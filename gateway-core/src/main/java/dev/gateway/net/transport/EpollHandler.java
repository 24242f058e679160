package dev.gateway.net.transport;

import dev.gateway.net.HalfClose;
import io.netty.channel.Channel;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.unix.FileDescriptor;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Netty's epoll, with four differences for connections. A peer's FIN is found by reading, in the
 * same turn of the loop as the last bytes if it came with them: once notified of it, Netty reads all that the kernel
 * holds, paused or not. A socket without interest in events stays registered with the kernel: Netty takes it out and
 * cannot get it in again, so that a write that has to wait, or reading on after a pause, fails (4.2.13 and later).
 * The kernel is told what is asked right before it is waited for, not each of the changes of mind until then. And
 * what closes is not taken out first, as the kernel forgets it by itself. Used by its event loop only.
 */
final class EpollHandler extends WrappedHandler {
    private static final Logger log = LoggerFactory.getLogger(EpollHandler.class);

    private static final EpollIoEvent READABLE = () -> EpollIoOps.EPOLLIN;

    private final List<Socket> changed = new ArrayList<>(); // about which the kernel is still to be told

    EpollHandler(IoHandler epoll) {
        super(epoll);
    }

    static IoHandlerFactory factory() {
        return factory(EpollIoHandler.newFactory(), (epoll, executor) -> new EpollHandler(epoll));
    }

    @Override
    Registered<?> wrap(IoHandle handle) {
        return new Socket((EpollIoHandle) handle);
    }

    @Override
    public int run(IoHandlerContext context) {
        for (int i = 0; i < changed.size(); i++) { // to which one that fails may add others
            changed.get(i).tellKernel();
        }
        changed.clear();
        return super.run(context);
    }

    @SuppressWarnings("try") // of close(), which is the interface's
    private final class Socket extends Registered<EpollIoHandle> implements EpollIoHandle {
        private final Channel.@Nullable Unsafe unsafe; // of a channel, if it is one's
        private EpollIoOps known = EpollIoOps.NONE; // to the kernel
        private EpollIoOps asked = EpollIoOps.NONE;
        private boolean isChanged;
        private boolean added;
        private boolean silent; // it is neither read nor written
        private boolean ending; // its channel closes

        Socket(EpollIoHandle handle) {
            super(handle);
            this.unsafe = handle instanceof Channel.Unsafe of ? of : null;
        }

        @Override
        public long submit(IoOps wanted) {
            EpollIoOps ops = ((EpollIoOps) wanted).without(EpollIoOps.EPOLLRDHUP);
            boolean none = ops.equals(EpollIoOps.NONE);
            if (ops.contains(EpollIoOps.EPOLLIN)) {
                ops = ops.with(EpollIoOps.EPOLLRDHUP);
            }
            added |= !wanted.equals(EpollIoOps.NONE);
            silent = none && added;
            // Errors and hang-ups are told whatever is asked; edge-triggered they are told once, not all the time.
            asked = silent ? EpollIoOps.EPOLLET : ops;
            if (!isChanged) {
                isChanged = true;
                changed.add(this);
            }
            return asked.value();
        }

        void tellKernel() {
            isChanged = false;
            if (asked.equals(known)) {
                return;
            }
            known = asked;
            try {
                registration.submit(asked); // which does nothing for one that was closed meanwhile
            } catch (UncheckedIOException e) {
                log.warn("Closing a connection that epoll refuses: {}", e.getMessage());
                closeChannel();
            }
        }

        @Override
        public boolean cancel() {
            Channel channel = channel();
            ending = channel != null
                    && !(channel instanceof ServerChannel) // others may have its socket, too
                    && !channel.isActive();
            return super.cancel();
        }

        /** While a channel closes, its descriptor is taken for closed: epoll forgets it by itself. */
        @Override
        public FileDescriptor fd() {
            return ending ? new Ending(handle.fd().intValue()) : handle.fd();
        }

        @Override
        public void handle(IoRegistration from, IoEvent event) {
            EpollIoOps ops = ((EpollIoEvent) event).ops();
            boolean failed = ops.contains(EpollIoOps.EPOLLERR);
            if (silent && failed) { // a reset, which a channel that neither reads nor writes would miss
                if (!mayHaveAnswered()) {
                    closeChannel();
                }
                return; // what came before the reset is in the kernel, and the next to read finds both
            }
            if (ops.contains(EpollIoOps.EPOLLRDHUP)) {
                handleFin(ops.without(EpollIoOps.EPOLLRDHUP));
            } else {
                handle.handle(this, event);
            }
            if (silent && failed && isValid()) {
                known = EpollIoOps.NONE; // so that the kernel reports it again, unless reading has resumed by then
                submit(EpollIoOps.NONE);
            } else if (asked.contains(EpollIoOps.EPOLLIN) && isValid() && isInputShutdown()) {
                submit(asked.without(
                        EpollIoOps.EPOLLIN)); // and RDHUP with it; else the kernel would report the FIN once more
            }
        }

        /**
         * Reports the FIN ahead of what came with it, then reads once more than Netty would, which stops where a read
         * has not filled its buffer.
         */
        private void handleFin(EpollIoOps ops) {
            Channel channel = channel();
            if (channel != null && channel.isRegistered() && ops.contains(EpollIoOps.EPOLLIN)) {
                HalfClose.announceInputEnd(channel);
            }
            handle.handle(this, (EpollIoEvent) () -> ops);
            if (asked.contains(EpollIoOps.EPOLLIN) && isValid() && !isInputShutdown()) {
                handle.handle(this, READABLE);
            }
        }

        /** Whether what came before a reset counts, as an upstream's answer does: then no failed write closes it either. */
        private boolean mayHaveAnswered() {
            Channel channel = channel();
            return channel != null && !channel.config().isAutoClose();
        }

        private boolean isInputShutdown() {
            return channel() instanceof DuplexChannel duplex && duplex.isInputShutdown();
        }

        private @Nullable Channel channel() {
            return unsafe == null ? null : unsafe.voidPromise().channel();
        }

        private void closeChannel() {
            if (unsafe != null) {
                unsafe.close(unsafe.voidPromise());
            }
        }
    }

    /** A descriptor that is about to be closed. */
    private static final class Ending extends FileDescriptor {
        Ending(int number) {
            super(number);
        }

        @Override
        public boolean isOpen() {
            return false;
        }
    }
}
