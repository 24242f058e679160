package dev.gateway.protocol.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.SourceAddress;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.HalfClosableChannel;
import dev.gateway.testing.IgnoredEvents;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What has come of a ClientHello is charged to its client, until it is complete or the connection closes. */
class TcpServerConnectionMemoryTest {
    private static final int PART = 12 * 1024;

    private final LoopBudget direct = new LoopBudget(new MemoryBudget(1 << 20, 1));
    private final LoopGate gate = new LoopGate(new Overload(), new LoopBudget(new MemoryBudget(16 << 20, 1)), direct);
    private final List<EmbeddedChannel> channels = new ArrayList<>();
    private final List<Cause> refused = new ArrayList<>();
    private int requests;

    @AfterEach
    void nothingIsCharged() {
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
        assertThat(direct.held()).isZero();
    }

    private final class Core implements RequestHandler {
        @Override
        public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
            requests++;
            return new Dropped();
        }

        @Override
        public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
            refused.add(failure.cause());
            stream.head(new ResponseHead(failure.status(), null, new Fields(), 0), true);
        }
    }

    private static final class Dropped extends IgnoredEvents {
        @Override
        public void onData(ByteBuf data, boolean last) {
            data.release();
        }
    }

    private EmbeddedChannel connect(String client) {
        Account account = gate.newAccount();
        gate.admitClient(account, client);
        ConnectionInfo info = new ConnectionInfo(
                0, "test", HttpVersion.TCP, SourceAddress.UNIX, SourceAddress.UNIX, null, null, account);
        EmbeddedChannel channel = new HalfClosableChannel();
        channel.pipeline()
                .addLast(new TcpServerConnection(
                        info,
                        new Core(),
                        new ConnectionObserver() {},
                        new TimerWheel(channel.eventLoop()),
                        new TcpServerSettings(true, 0)));
        channels.add(channel);
        return channel;
    }

    /** The beginning of a hello that is longer than what comes of it. */
    private static ByteBuf begun() {
        byte[] bytes = new byte[PART];
        byte[] header = {22, 3, 1, 0x3f, (byte) 0xff, 1, 0, 0x3f, (byte) 0xf0, 3, 3};
        System.arraycopy(header, 0, bytes, 0, header.length);
        return Buffers.of(bytes);
    }

    private static byte[] hello() throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(true);
        ByteBuffer out = ByteBuffer.allocate(20_000);
        engine.wrap(ByteBuffer.allocate(0), out);
        return Arrays.copyOf(out.array(), out.position());
    }

    @Test
    void aPartOfAHelloIsChargedUntilItIsPassedOn() throws Exception {
        byte[] hello = hello();
        EmbeddedChannel channel = connect("one");
        channel.writeInbound(Buffers.of(Arrays.copyOf(hello, 100)));
        assertThat(direct.held()).isGreaterThanOrEqualTo(100);
        channel.writeInbound(Buffers.of(Arrays.copyOfRange(hello, 100, hello.length)));
        assertThat(direct.held()).isZero();
        assertThat(requests).isEqualTo(1);
    }

    @Test
    void aByteKeepsNoLargeBuffer() {
        EmbeddedChannel channel = connect("one");
        ByteBuf large = channel.alloc().directBuffer(64 * 1024);
        channel.writeInbound(large.writeByte(22));
        assertThat(direct.held()).isBetween(1L, 512L);
    }

    @Test
    void itIsChargedUntilTheConnectionCloses() {
        EmbeddedChannel channel = connect("one");
        channel.writeInbound(begun());
        assertThat(direct.held()).isGreaterThanOrEqualTo(PART);
        channel.close();
        assertThat(direct.held()).isZero();
    }

    @Test
    void oneClientsHellosLeaveRoomForAnother() {
        int open = 0;
        for (; refused.isEmpty() && open < 100; open++) {
            connect("greedy").writeInbound(begun());
        }
        assertThat(open * PART).isBetween(1 << 18, 1 << 19);
        assertThat(refused).containsExactly(Cause.OVERLOAD);
        assertThat(channels.get(open - 1).isOpen()).isFalse();
        connect("other").writeInbound(begun());
        assertThat(channels.get(open).isOpen()).isTrue();
    }

    @Test
    void whoDoesNotFinishIsCutWhenMemoryIsShort() {
        EmbeddedChannel channel = connect("one");
        channel.writeInbound(begun());
        StalledPeers.ofThisLoop().cut(PART, Long.MAX_VALUE, 0);
        assertThat(refused).containsExactly(Cause.OVERLOAD);
        assertThat(channel.isOpen()).isFalse();
        assertThat(direct.held()).isZero();
    }
}
