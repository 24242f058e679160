package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.transport.DescriptorShare;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import io.netty.channel.EventLoop;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a listener with one socket does while clients have all file descriptors that are for them. */
@Timeout(60)
class FullShareTest {
    private final ListenerRig rig = new ListenerRig(2);

    @AfterEach
    void stop() throws Exception {
        rig.stop();
    }

    private final List<CompletableFuture<Boolean>> asked = new ArrayList<>(); // the connections of each event loop

    /** Each event loop has a connection that does not give way. */
    private void enter() {
        MemoryBudget memory = new MemoryBudget(1 << 30, 2);
        List<LoopGate> gates = new ArrayList<>();
        for (EventLoop loop : rig.transport.loops()) {
            CompletableFuture<Boolean> onItsLoop = new CompletableFuture<>();
            LoopGate gate = new LoopGate(new Overload(), new LoopBudget(memory), null);
            gate.enter((because, urgent) -> {
                onItsLoop.complete(loop.inEventLoop());
                return false;
            });
            asked.add(onItsLoop);
            gates.add(gate);
        }
        rig.gates = gates::get;
    }

    private DescriptorShare leave(int descriptors) {
        DescriptorShare share = rig.transport.descriptors().clients();
        while (share.max() - share.taken() > descriptors) {
            share.take();
        }
        return share;
    }

    private void assertAsked() throws Exception {
        for (CompletableFuture<Boolean> each : asked) {
            assertThat(each.get(ListenerRig.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                    .isTrue();
        }
    }

    @Test
    void connectionsOfEveryEventLoopAreAskedToGiveWay() throws Exception {
        enter();
        leave(1);
        try (Socket client = ListenerRig.connect(rig.listen())) {
            assertThat(client.isConnected()).isTrue();
            assertAsked();
        }
    }

    @Test
    void oneEventLoopAfterTheOtherIsAskedWhileASixteenthIsLeft() throws Exception {
        enter();
        DescriptorShare share = leave(rig.transport.descriptors().clients().max() / 16);
        Listener listener = rig.listen();
        while (!asked.stream().allMatch(CompletableFuture::isDone)) {
            try (Socket client = ListenerRig.connect(listener)) {
                assertThat(client.isConnected()).isTrue();
                ListenerRig.awaitConnections(listener, 1);
            }
            ListenerRig.awaitConnections(listener, 0);
        }
        assertAsked();
        assertThat(share.isFull()).isFalse();
    }
}
