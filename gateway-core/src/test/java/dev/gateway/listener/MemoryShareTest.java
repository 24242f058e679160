package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.testing.LoggedLines;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whose connections use a share of the memory, and whose do not, as they are those of many clients. */
@Timeout(60)
class MemoryShareTest {
    private static final long CAPACITY = 1 << 20;

    @TempDir
    private Path directory;

    private final ListenerRig rig = new ListenerRig(1);
    private final LoopGate gate = new LoopGate(new Overload(), new LoopBudget(new MemoryBudget(CAPACITY, 1)), null);

    MemoryShareTest() {
        rig.gates = loop -> gate;
    }

    @AfterEach
    void stop() throws Exception {
        rig.stop();
    }

    private static ByteBuffer request(String path) {
        return ByteBuffer.wrap(Clients.get(path).getBytes(StandardCharsets.US_ASCII));
    }

    /** Has a connection hold half of the memory; returns whether another one of the same peer is served then. */
    private boolean isServedBesideHalf() throws Exception {
        SocketAddress listening = rig.listen().address();
        SocketAddress address = rig.bound instanceof UnixDomainSocketAddress unix
                ? UnixDomainSocketAddress.of(unix.getPath())
                : listening;
        try (SocketChannel first = SocketChannel.open(address)) {
            first.write(request("/held"));
            ListenerRig.Call held = rig.heldCall();
            Account account = held.stream().connection().account();
            held.loop().submit(() -> account.charge(CAPACITY / 2)).sync();
            boolean served = isServed(address);
            held.loop().submit(() -> account.release(CAPACITY / 2)).sync();
            held.answer();
            return served;
        }
    }

    private static boolean isServed(SocketAddress address) {
        try (SocketChannel client = SocketChannel.open(address)) {
            client.write(request("/"));
            byte[] answer = Channels.newInputStream(client).readNBytes(12);
            return new String(answer, StandardCharsets.US_ASCII).equals("HTTP/1.1 200");
        } catch (IOException e) {
            return false; // closed before it had asked
        }
    }

    @Test
    void aClientWithItsShareGetsNoFurtherConnection() throws Exception {
        try (LoggedLines refusals = LoggedLines.of(RefusalLog.class).unseen()) {
            assertThat(isServedBesideHalf()).isFalse();
            assertThat(refusals.warnings())
                    .singleElement()
                    .asString()
                    .contains("holds all the memory that one client may hold");
        }
    }

    @Test
    void aTrustedProxyHasNoShare() throws Exception {
        rig.trustedProxies = InetAddress::isLoopbackAddress;
        assertThat(isServedBesideHalf()).isTrue();
    }

    @Test
    void clientsOfASocketFileHaveNoShare() throws Exception {
        rig.bound = UnixDomainSocketAddress.of(directory.resolve("gateway.sock"));
        assertThat(isServedBesideHalf()).isTrue();
    }
}
