package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gateway.net.transport.DescriptorShare;
import dev.gateway.net.transport.TransportKind;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.uring.IoUring;
import java.io.IOException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a listener does with those who have connected, on real sockets of every transport. */
@Timeout(60)
class AcceptingTest {
    private static final int CLIENTS = 100;

    private final List<Socket> clients = new ArrayList<>();
    private @Nullable ListenerRig rig;

    private Listener listen(TransportKind kind) throws IOException {
        boolean available =
                switch (kind) {
                    case EPOLL -> Epoll.isAvailable();
                    case IO_URING -> IoUring.isAvailable();
                    case NIO -> true;
                };
        assumeTrue(available, kind + " does not work here");
        ListenerRig started = new ListenerRig(kind, 1);
        rig = started;
        assertThat(started.transport.kind()).isEqualTo(kind);
        return started.listen();
    }

    private Socket connect(Listener listener) throws IOException {
        Socket client = ListenerRig.connect(listener);
        clients.add(client);
        return client;
    }

    @AfterEach
    void close() throws Exception {
        for (Socket each : clients) {
            each.close();
        }
        if (rig != null) {
            rig.stop();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whoHasConnectedBeforeAStopIsServed(TransportKind kind) throws Exception {
        Listener listener = listen(kind);
        EventLoop loop = rig().transport.loops().get(0);
        CompletableFuture<Void> allThere = new CompletableFuture<>();
        loop.execute(allThere::join);
        for (int i = 0; i < CLIENTS; i++) {
            Clients.send(connect(listener), Clients.get("/"));
        }
        CompletableFuture<Void> emptied = listener.acceptRest(TimeUnit.SECONDS.toNanos(30));
        allThere.complete(null);
        emptied.get(40, TimeUnit.SECONDS);
        listener.stopAccepting();
        for (Socket each : clients) {
            assertThat(Clients.response(each.getInputStream())).startsWith("HTTP/1.1 200 ");
        }
    }

    @ParameterizedTest
    @EnumSource
    void whoComesWhileNoDescriptorIsLeftIsServedOnceAnotherLeaves(TransportKind kind) throws Exception {
        Listener listener = listen(kind);
        DescriptorShare share = rig().transport.descriptors().clients();
        while (share.max() - share.taken() > 2) {
            share.take();
        }
        Socket first = connect(listener);
        Socket second = connect(listener);
        Clients.exchange(first, "/");
        Clients.exchange(second, "/");
        rig().awaitEvent("accepting paused");

        List<Socket> waiting = List.of(connect(listener), connect(listener));
        for (Socket each : waiting) {
            Clients.send(each, Clients.get("/"));
        }
        for (int i = 0; i < 20; i++) {
            Clients.exchange(second, "/"); // a turn of the loop, in which it would have accepted them
        }
        assertThat(listener.connections()).isEqualTo(2);
        assertThat(waiting.get(0).getInputStream().available()).isZero();

        first.close();
        assertThat(Clients.response(waiting.get(0).getInputStream())).startsWith("HTTP/1.1 200 ");
        rig().awaitEvent("accepting paused");
        second.close();
        assertThat(Clients.response(waiting.get(1).getInputStream())).startsWith("HTTP/1.1 200 ");
    }

    private ListenerRig rig() {
        ListenerRig started = rig;
        if (started == null) {
            throw new IllegalStateException("nothing listens yet");
        }
        return started;
    }
}
