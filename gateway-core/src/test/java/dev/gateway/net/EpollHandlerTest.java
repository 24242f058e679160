package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.channel.Channel;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.FileDescriptor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the kernel is told of the events that a channel waits for. */
class EpollHandlerTest {
    private static final IoHandlerContext CONTEXT = new IoHandlerContext() {
        @Override
        public boolean canBlock() {
            return false;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return 0;
        }

        @Override
        public long deadlineNanos() {
            return 0;
        }
    };

    private static final EpollIoEvent RESET = () -> EpollIoOps.EPOLLERR.with(EpollIoOps.EPOLLIN);

    /** What the kernel is told of a socket that is read. */
    private static final EpollIoOps READING = EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLRDHUP);

    private static final EpollIoEvent FIN = () -> READING;

    private final Kernel kernel = new Kernel();

    @SuppressWarnings("NullAway.Init")
    private EpollHandler handler;

    @SuppressWarnings("NullAway.Init")
    private IoRegistration socket;

    @BeforeEach
    void register() throws Exception {
        assumeTrue(TransportKind.EPOLL.unavailabilityCause() == null, "no epoll here");
        handler = new EpollHandler(kernel);
        socket = handler.register(new Silent());
    }

    @Test
    void onlyTheLastOfSeveralWishesIsTold() {
        socket.submit(EpollIoOps.EPOLLRDHUP);
        socket.submit(EpollIoOps.EPOLLRDHUP.with(EpollIoOps.EPOLLIN));
        assertThat(kernel.told).isEmpty();

        handler.run(CONTEXT);
        assertThat(kernel.told).containsExactly(READING);
    }

    @Test
    void aWishThatIsTakenBackIsNotTold() {
        socket.submit(EpollIoOps.EPOLLIN);
        handler.run(CONTEXT);
        socket.submit(EpollIoOps.EPOLLRDHUP);
        socket.submit(EpollIoOps.EPOLLRDHUP.with(EpollIoOps.EPOLLIN));
        handler.run(CONTEXT);
        handler.run(CONTEXT);

        assertThat(kernel.told).containsExactly(READING);
    }

    @Test
    void aSocketAboutWhichNothingIsAskedStaysKnown() {
        socket.submit(EpollIoOps.EPOLLIN);
        handler.run(CONTEXT);
        socket.submit(EpollIoOps.NONE);
        handler.run(CONTEXT);
        socket.submit(EpollIoOps.EPOLLOUT);
        handler.run(CONTEXT);

        assertThat(kernel.told).containsExactly(READING, EpollIoOps.EPOLLET, EpollIoOps.EPOLLOUT);
    }

    /** Which forgets it by itself. */
    @Test
    void aSocketIsNotTakenOutOfEpollBeforeItIsClosed() throws Exception {
        EpollSocketChannel channel = new EpollSocketChannel();
        handler.register((EpollIoHandle) channel.unsafe()).cancel();
        try {
            assertThat(kernel.registered().fd().isOpen()).isFalse();
            assertThat(kernel.registered().fd().intValue())
                    .isEqualTo(channel.fd().intValue());
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    /** Since others may have the socket, too, for whom it is not closed. */
    @Test
    void aListeningSocketIsTakenOutOfEpoll() throws Exception {
        EpollServerSocketChannel channel = new EpollServerSocketChannel();
        handler.register((EpollIoHandle) channel.unsafe()).cancel();
        try {
            assertThat(kernel.registered().fd().isOpen()).isTrue();
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    @Test
    void aConnectionThatEpollDoesNotTakeIsClosed() throws Exception {
        EpollSocketChannel channel = new EpollSocketChannel();
        IoRegistration refused = handler.register((EpollIoHandle) channel.unsafe());
        kernel.refuses = true;
        refused.submit(EpollIoOps.EPOLLIN);
        handler.run(CONTEXT);
        assertThat(channel.isOpen()).isFalse();
    }

    /** The kernel tells it once, unless it is asked anew; and what it still has may be read until then. */
    @Test
    void aResetThatComesAsReadingPausesIsToldAgain() throws Exception {
        EpollSocketChannel channel = new EpollSocketChannel();
        IoRegistration registration = pausingAtEachEvent(channel);
        handler.run(CONTEXT);
        kernel.registered().handle(registration, RESET);
        assertThat(channel.isOpen()).isTrue();

        handler.run(CONTEXT);
        assertThat(kernel.told).containsExactly(READING, EpollIoOps.EPOLLET);
        kernel.registered().handle(registration, RESET);
        assertThat(channel.isOpen()).isFalse();
    }

    /** It may have answered before, and the answer waits in the kernel for whoever reads on. */
    @Test
    void aResetOfAPausedUpstreamIsLeftToBeRead() throws Exception {
        EpollSocketChannel channel = new EpollSocketChannel();
        HalfClose.survivesWrites(channel, true);
        IoRegistration registration = pausingAtEachEvent(channel);
        handler.run(CONTEXT);
        registration.submit(EpollIoOps.NONE);
        handler.run(CONTEXT);
        kernel.registered().handle(registration, RESET);
        try {
            assertThat(channel.isOpen()).isTrue();
            registration.submit(EpollIoOps.EPOLLIN);
            handler.run(CONTEXT);
            assertThat(kernel.told).containsExactly(READING, EpollIoOps.EPOLLET, READING);
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    @Test
    void aPauseOfAMomentLetsWhatCameBeforeAResetBeRead() throws Exception {
        EpollSocketChannel channel = new EpollSocketChannel();
        IoRegistration registration = pausingAtEachEvent(channel);
        handler.run(CONTEXT);
        kernel.registered().handle(registration, RESET);
        registration.submit(EpollIoOps.EPOLLIN);
        handler.run(CONTEXT);
        try {
            assertThat(channel.isOpen()).isTrue();
            assertThat(kernel.told).containsExactly(READING, READING);
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    @Test
    void aFinIsReadInTheTurnOfWhatCameBeforeIt() throws Exception {
        List<EpollIoOps> handled = new ArrayList<>();
        IoRegistration registration = handler.register(new Silent() {
            @Override
            public void handle(IoRegistration from, IoEvent event) {
                handled.add(((EpollIoEvent) event).ops());
            }
        });
        registration.submit(EpollIoOps.EPOLLIN);
        kernel.registered().handle(registration, FIN);
        assertThat(handled).containsExactly(EpollIoOps.EPOLLIN, EpollIoOps.EPOLLIN);
    }

    @Test
    void aFinIsNotReadWhereReadingPauses() throws Exception {
        EpollSocketChannel channel = new EpollSocketChannel();
        IoRegistration registration = pausingAtEachEvent(channel);
        kernel.registered().handle(registration, FIN); // a second time, it would be told of nothing that is asked
        handler.run(CONTEXT);
        try {
            assertThat(kernel.told).containsExactly(EpollIoOps.EPOLLET);
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    /** Registers a channel that reads, and stops reading when anything happens. */
    private IoRegistration pausingAtEachEvent(EpollSocketChannel channel) throws Exception {
        IoRegistration[] registration = new IoRegistration[1];
        Object reading = Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {EpollIoHandle.class, Channel.Unsafe.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("handle")) {
                        registration[0].submit(EpollIoOps.EPOLLRDHUP);
                        return null;
                    }
                    return method.invoke(channel.unsafe(), arguments);
                });
        registration[0] = handler.register((EpollIoHandle) reading);
        registration[0].submit(EpollIoOps.EPOLLIN);
        return registration[0];
    }

    /** A handle that no event comes to. */
    private static class Silent implements EpollIoHandle {
        private final FileDescriptor descriptor = new FileDescriptor(1);

        @Override
        public FileDescriptor fd() {
            return descriptor;
        }

        @Override
        public void handle(IoRegistration registration, IoEvent event) {}

        @Override
        public void close() {}
    }

    /** Stands for Netty's handler, which would pass on to epoll what it is told. */
    private static final class Kernel implements IoHandler {
        private final List<IoOps> told = new ArrayList<>();
        private @Nullable IoHandle last;
        private boolean refuses;

        EpollIoHandle registered() {
            return (EpollIoHandle) Objects.requireNonNull(last);
        }

        @Override
        public IoRegistration register(IoHandle handle) {
            last = handle;
            return new IoRegistration() {
                @Override
                @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
                public <T> T attachment() {
                    return (T) told;
                }

                @Override
                public long submit(IoOps ops) {
                    if (refuses) {
                        throw new UncheckedIOException(new IOException("made by the test"));
                    }
                    told.add(ops);
                    return 1;
                }

                @Override
                public boolean isValid() {
                    return true;
                }

                @Override
                public boolean cancel() {
                    return true;
                }
            };
        }

        @Override
        public int run(IoHandlerContext context) {
            return 0;
        }

        @Override
        public void wakeup() {}

        @Override
        public boolean isCompatible(Class<? extends IoHandle> handleType) {
            return true;
        }
    }
}
