package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What has come of a ClientHello is charged to its client, until the TLS handler has it or the connection closes. */
class HelloMemoryTest {
    private static final int RECORD = 8 * 1024;

    private final LoopBudget direct = new LoopBudget(new MemoryBudget(1 << 20, 1));
    private final LoopGate gate = new LoopGate(new Overload(), new LoopBudget(new MemoryBudget(16 << 20, 1)), direct);
    private final List<EmbeddedChannel> channels = new ArrayList<>();
    private final List<HandshakeFailure> failures = new ArrayList<>();

    @AfterEach
    void nothingIsCharged() {
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
        assertThat(direct.held()).isZero();
    }

    /** Has a TLS handler for each client, which need not succeed. */
    private static final class AnyClient implements HelloHandler.Server {
        private final SslContext context;

        AnyClient() throws Exception {
            context = SslContextBuilder.forClient().sslProvider(SslProvider.JDK).build();
        }

        @Override
        public List<String> protocols() {
            return List.of();
        }

        @Override
        public SslContext context(@Nullable String name, ByteBuf hello) {
            return context;
        }

        @Override
        public SslHandler handler(SslContext context, ChannelHandlerContext ctx) {
            return context.newHandler(ctx.alloc());
        }
    }

    private EmbeddedChannel connect(String client) throws Exception {
        Account account = gate.newAccount();
        gate.admitClient(account, client);
        EmbeddedChannel channel =
                new EmbeddedChannel(new HelloHandler(new AnyClient(), account, 0), new ChannelInboundHandlerAdapter() {
                    @Override
                    @SuppressWarnings("deprecation")
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        failures.add(HandshakeFailures.of(cause));
                    }
                });
        channels.add(channel);
        return channel;
    }

    /** A record of a hello of 16 KiB, the first one or another. */
    private static ByteBuf record(boolean first) {
        ByteBuf record = Unpooled.buffer(5 + RECORD).writeBytes(new byte[] {22, 3, 1, RECORD >> 8, 0});
        record.writeBytes(first ? new byte[] {1, 0, 0x3f, (byte) 0xf0, 3, 3} : new byte[6]);
        return Buffers.join(record.writeZero(RECORD - 6));
    }

    @Test
    void aPartOfAHelloIsChargedUntilTheTlsHandlerHasIt() throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(true);
        ByteBuffer out = ByteBuffer.allocate(20_000);
        engine.wrap(ByteBuffer.allocate(0), out);
        byte[] hello = Arrays.copyOf(out.array(), out.position());
        EmbeddedChannel channel = connect("one");
        channel.writeInbound(Buffers.of(Arrays.copyOf(hello, 100)));
        assertThat(direct.held()).isGreaterThanOrEqualTo(100);
        channel.writeInbound(Buffers.of(Arrays.copyOfRange(hello, 100, hello.length)));
        assertThat(channel.pipeline().get(HelloHandler.class)).isNull();
        assertThat(direct.held()).isZero();
    }

    @Test
    void aHelloOfSeveralRecordsIsChargedUntilTheConnectionCloses() throws Exception {
        EmbeddedChannel channel = connect("one");
        channel.writeInbound(record(true));
        assertThat(direct.held()).isGreaterThanOrEqualTo(RECORD);
        channel.close();
        channel.runPendingTasks();
        assertThat(direct.held()).isZero();
        assertThat(failures).isEmpty();
    }

    @Test
    void oneClientsHellosLeaveRoomForAnother() throws Exception {
        int open = 0;
        for (; failures.isEmpty() && open < 100; open++) {
            connect("greedy").writeInbound(record(true));
        }
        assertThat(direct.held()).isBetween(1L << 18, 1L << 19);
        assertThat(failures).containsExactly(HandshakeFailure.OVERLOAD);
        assertThat(channels.get(open - 1).isOpen()).isFalse();
        connect("other").writeInbound(record(true));
        assertThat(channels.get(open).isOpen()).isTrue();
    }

    @Test
    void whoDoesNotFinishIsCutWhenMemoryIsShort() throws Exception {
        EmbeddedChannel channel = connect("one");
        channel.writeInbound(record(true));
        StalledPeers.ofThisLoop().cut(RECORD, Long.MAX_VALUE, 0);
        channel.runPendingTasks();
        assertThat(failures).containsExactly(HandshakeFailure.OVERLOAD);
        assertThat(channel.isOpen()).isFalse();
        assertThat(direct.held()).isZero();
    }

    /** It is refused anyway, so there is no use in waiting for its rest. */
    @Test
    void aLongerHelloIsRefusedAtOnce() throws Exception {
        EmbeddedChannel channel = connect("one");
        ByteBuf record = record(true);
        record.setMedium(6, ClientHello.MAX_BYTES + 1);
        channel.writeInbound(record);
        ByteBuf alert = channel.readOutbound();
        assertThat(ByteBufUtil.getBytes(alert)).containsExactly(21, 3, 3, 0, 2, 2, 47); // illegal_parameter
        alert.release();
        assertThat(channel.isOpen()).isFalse();
        assertThat(failures).containsExactly(HandshakeFailure.OTHER);
    }
}
