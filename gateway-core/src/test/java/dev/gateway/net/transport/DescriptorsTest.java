package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How file descriptors are shared out, and what happens where there is none. */
@Timeout(60)
class DescriptorsTest {
    @Test
    void clientsAndUpstreamsHaveAHalfEachOfWhatTheProcessDoesNotUse() {
        Descriptors descriptors = new Descriptors(1024, () -> 96);
        assertThat(descriptors.forAdmin()).isEqualTo(64);
        assertThat(descriptors.clients().max()).isEqualTo(400);
        assertThat(descriptors.upstreams().max()).isEqualTo(400);
    }

    @Test
    void connectionsAreNotTakenForTheProcessesOwn() {
        AtomicLong open = new AtomicLong(96);
        Descriptors descriptors = new Descriptors(1024, open::get);
        for (int i = 0; i < 100; i++) {
            descriptors.clients().take();
        }
        open.set(96 + 100 + 20); // with twenty more listening sockets
        descriptors.settle();
        assertThat(descriptors.clients().max()).isEqualTo(390);
    }

    @Test
    void evenWithHardlyAnySomeAreLeft() {
        Descriptors descriptors = new Descriptors(30, () -> 29);
        assertThat(descriptors.clients().max()).isEqualTo(4);
        assertThat(descriptors.upstreams().max()).isEqualTo(4);
    }

    @Test
    void whatIsNotKnownIsNoLimit() {
        Descriptors descriptors = new Descriptors(0, () -> 0);
        assertThat(descriptors.clients().isFull()).isFalse();
        assertThat(descriptors.clients().max()).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void itIsNearlyFullWhereASixteenthIsLeft() {
        DescriptorShare share = new DescriptorShare(32);
        for (int i = 0; i < 29; i++) {
            share.take();
        }
        assertThat(share.isNearlyFull()).isFalse();
        share.take();
        assertThat(share.isNearlyFull()).isTrue();
        assertThat(share.isFull()).isFalse();
        share.take();
        share.take();
        share.take();
        assertThat(share.isNearlyFull()).isTrue();
        assertThat(new DescriptorShare(Integer.MAX_VALUE).isNearlyFull()).isFalse();
    }

    @Test
    void whoWaitsIsToldOnceWhenOneIsGivenBack() {
        DescriptorShare share = new DescriptorShare(1);
        share.take();
        List<String> told = new ArrayList<>();
        share.whenFree(() -> told.add("free"));
        assertThat(told).isEmpty();
        share.release();
        share.take();
        share.release();
        assertThat(told).containsExactly("free");
    }

    @Test
    void whoWaitsWhereOneIsLeftIsToldAtOnce() {
        List<String> told = new ArrayList<>();
        new DescriptorShare(1).whenFree(() -> told.add("free"));
        assertThat(told).containsExactly("free");
    }

    @Test
    void whoWaitsIsToldWhenThereAreMore() {
        DescriptorShare share = new DescriptorShare(1);
        share.take();
        List<String> told = new ArrayList<>();
        share.whenFree(() -> told.add("free"));
        share.resize(2);
        assertThat(told).containsExactly("free");
    }

    @Test
    void thatNoSocketCanBeMadeIsToldOnTheLoopOfItsCaller() throws Exception {
        Transport transport =
                Transport.start(TransportKind.EPOLL, 1, InheritedSockets.none(), new Descriptors(20, () -> 20));
        EventLoop loop = transport.loops().get(0);
        try (ServerSocket server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress())) {
            CompletableFuture<String> failed = new CompletableFuture<>();
            loop.submit(() -> {
                        InetSocketAddress address = (InetSocketAddress) server.getLocalSocketAddress();
                        while (transport.connect(
                                        loop,
                                        address,
                                        0,
                                        new ChannelInboundHandlerAdapter(),
                                        cause -> failed.complete(loop.inEventLoop() + " "
                                                + Shortage.isOurs(cause, address.getAddress())))
                                != null) {}
                    })
                    .sync();
            assertThat(failed.get(20, TimeUnit.SECONDS)).isEqualTo("true true");
        } finally {
            transport.stop().sync();
        }
        assertThat(transport.descriptors().upstreams().taken()).isZero();
    }
}
