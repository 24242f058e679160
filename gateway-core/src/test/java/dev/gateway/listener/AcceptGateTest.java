package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.http1.HeadLimits;
import dev.gateway.http1.Http1ServerSettings;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long a stop waits for those who have connected and were not accepted yet. */
class AcceptGateTest {
    private final EmbeddedChannel socket = new EmbeddedChannel();
    private final AcceptGate gate =
            new AcceptGate(socket, new Door(owner()), null, new AcceptTrouble(System::nanoTime));

    private LoopConnections owner() {
        ListenerSettings settings = new ListenerSettings(
                0,
                "web",
                new ListenerSettings.Address.Tcp(new InetSocketAddress(0)),
                ListenerSettings.Sharing.NONE,
                0,
                null,
                null,
                new ListenerSettings.Protocols(
                        new Http1ServerSettings(HeadLimits.DEFAULT, 0, 0, 0, 0, 0, false, null), null, false));
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
                new ListenerLoop(
                        socket.eventLoop(), new TimerWheel(socket.eventLoop()), nobody, ConnectionObserver.NONE),
                settings,
                Admission.of(settings),
                new RefusalLog(System::nanoTime));
    }

    @AfterEach
    void close() {
        socket.close();
    }

    @Test
    void waitsNoLongerThanItMayThoughSomethingWasAcceptedJustNow() {
        CompletableFuture<Void> emptied = gate.emptied(0);
        socket.runPendingTasks();
        assertThat(emptied).isDone();
    }
}
