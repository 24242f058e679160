package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.listener.limit.ConnectionLimit;
import dev.gateway.message.RequestHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.protocol.http1.HeadLimits;
import dev.gateway.protocol.http1.Http1ServerSettings;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.LoggedLines;
import dev.gateway.time.TimerWheel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What a listener does when it cannot accept, and how long a stop waits for those who have connected and were not accepted
 * yet.
 */
class AcceptGateTest {
    private final EmbeddedChannel socket = new EmbeddedChannel();
    private final List<String> observed = new ArrayList<>();
    private final AcceptGate gate = new AcceptGate(
            socket,
            new AcceptTarget(owner()),
            null,
            new AcceptGate.Shared(new AcceptTrouble(System::nanoTime), new AcceptRate(System.nanoTime()), Map.of()));

    private LoopConnections owner() {
        ListenerSettings settings = new ListenerSettings(
                0,
                "web",
                new InetSocketAddress(0),
                ListenerSettings.Sharing.NONE,
                new ListenerSettings.Limits(0, 0),
                null,
                null,
                new ListenerSettings.Protocols(
                        new Http1ServerSettings(HeadLimits.DEFAULT, ConnectionTimeouts.NONE, false), null, false));
        RequestHandler nobody = new RequestHandler() {
            @Override
            public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
                throw new AssertionError("no request");
            }

            @Override
            public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
                throw new AssertionError("no request");
            }
        };
        return new LoopConnections(
                new ListenerLoop(socket.eventLoop(), new TimerWheel(socket.eventLoop()), nobody, observer()),
                settings,
                new ConnectionLimit(settings.limits().maxConnections()),
                new RefusalLog(System::nanoTime));
    }

    private ConnectionObserver observer() {
        return new ConnectionObserver() {
            @Override
            public void onSocketError() {
                observed.add("error");
            }

            @Override
            public void onAcceptPaused() {
                observed.add("paused");
            }
        };
    }

    @AfterEach
    void close() {
        socket.close();
    }

    /** As when the kernel has no descriptor left: who has connected waits there, and is accepted a moment later. */
    @Test
    void anAcceptThatFailsIsTriedAgainInAMoment() {
        try (LoggedLines log = LoggedLines.of(AcceptTrouble.class)) {
            socket.freezeTime();
            List<Throwable> passedOn = new ArrayList<>();
            socket.pipeline().addLast(gate, new ChannelInboundHandlerAdapter() {
                @Override
                @SuppressWarnings("deprecation") // of exceptionCaught in ChannelHandler
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    passedOn.add(cause);
                }
            });
            for (int round = 1; round <= 2; round++) {
                socket.pipeline().fireExceptionCaught(new IOException("Too many open files"));
                socket.pipeline().fireExceptionCaught(new IOException("Too many open files"));
                assertThat(socket.config().isAutoRead()).isFalse();
                socket.advanceTimeBy(19, TimeUnit.MILLISECONDS);
                socket.runScheduledPendingTasks();
                assertThat(socket.config().isAutoRead()).isFalse();
                socket.advanceTimeBy(1, TimeUnit.MILLISECONDS);
                socket.runScheduledPendingTasks();
                assertThat(socket.config().isAutoRead()).isTrue();
                assertThat(socket.runScheduledPendingTasks())
                        .as("what is still scheduled")
                        .isEqualTo(-1);
            }
            assertThat(observed).containsExactly("error", "paused", "error", "error", "paused", "error");
            assertThat(passedOn).as("of which Netty would hear").isEmpty();
            assertThat(socket.isOpen()).isTrue();
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .contains("listener web could not accept a connection");
        }
    }

    @Test
    void aListenerThatIsClosedInTheMeantimeAcceptsNoMore() {
        socket.freezeTime();
        socket.pipeline().addLast(gate);
        socket.pipeline().fireExceptionCaught(new IOException("Too many open files"));
        socket.close();
        socket.advanceTimeBy(20, TimeUnit.MILLISECONDS);
        socket.runScheduledPendingTasks();
        assertThat(socket.config().isAutoRead()).isFalse();
    }

    @Test
    void waitsNoLongerThanItMayThoughSomethingWasAcceptedJustNow() {
        CompletableFuture<Void> emptied = gate.emptied(0);
        socket.runPendingTasks();
        assertThat(emptied).isDone();
    }
}
