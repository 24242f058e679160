package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.FileDescriptor;
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
        assertThat(kernel.told).containsExactly(EpollIoOps.EPOLLIN);
    }

    @Test
    void aWishThatIsTakenBackIsNotTold() {
        socket.submit(EpollIoOps.EPOLLIN);
        handler.run(CONTEXT);
        socket.submit(EpollIoOps.EPOLLRDHUP);
        socket.submit(EpollIoOps.EPOLLRDHUP.with(EpollIoOps.EPOLLIN));
        handler.run(CONTEXT);
        handler.run(CONTEXT);

        assertThat(kernel.told).containsExactly(EpollIoOps.EPOLLIN);
    }

    @Test
    void aSocketAboutWhichNothingIsAskedStaysKnown() {
        socket.submit(EpollIoOps.EPOLLIN);
        handler.run(CONTEXT);
        socket.submit(EpollIoOps.NONE);
        handler.run(CONTEXT);
        socket.submit(EpollIoOps.EPOLLOUT);
        handler.run(CONTEXT);

        assertThat(kernel.told).containsExactly(EpollIoOps.EPOLLIN, EpollIoOps.EPOLLET, EpollIoOps.EPOLLOUT);
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

    /** A handle that no event comes to. */
    private static final class Silent implements EpollIoHandle {
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
