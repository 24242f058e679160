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
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the TLS handler holds of records, and of a handshake behind the hello, is charged to its client. */
class RecordMemoryTest {
    private static final int HEADER = 5;
    private static final int RECORD = 15 * 1024;
    private static final ByteBuf HELLO = Unpooled.unreleasableBuffer(Buffers.join(record(600)));

    private final LoopBudget direct = new LoopBudget(new MemoryBudget(1 << 20, 1));
    private final LoopGate gate = new LoopGate(new Overload(), new LoopBudget(new MemoryBudget(16 << 20, 1)), direct);
    private final List<EmbeddedChannel> channels = new ArrayList<>();
    private final List<HandshakeFailure> failures = new ArrayList<>();

    @AfterEach
    void nothingIsCharged() {
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
        assertThat(direct.held()).isZero();
    }

    private Account account(String client) {
        Account account = gate.newAccount();
        gate.admitClient(account, client);
        return account;
    }

    private EmbeddedChannel open(ChannelInboundHandlerAdapter handler) {
        EmbeddedChannel channel = new EmbeddedChannel(handler, new ChannelInboundHandlerAdapter() {
            @Override
            @SuppressWarnings("deprecation")
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                failures.add(HandshakeFailures.of(cause));
            }
        });
        channels.add(channel);
        return channel;
    }

    /** A client of which a hello has come. */
    private EmbeddedChannel connect(String client, Promise<?> handshake) {
        EmbeddedChannel channel = open(new RecordHandler(account(client), handshake));
        channel.writeInbound(HELLO.duplicate());
        return channel;
    }

    private EmbeddedChannel shaking(String client) {
        return connect(client, ImmediateEventExecutor.INSTANCE.newPromise());
    }

    private EmbeddedChannel secured(String client) {
        return connect(client, ImmediateEventExecutor.INSTANCE.newPromise().setSuccess(null));
    }

    private static ByteBuf record(int length) {
        return Unpooled.buffer(HEADER + length)
                .writeBytes(new byte[] {23, 3, 3})
                .writeShort(length)
                .writeZero(length);
    }

    /** All of a record but its last byte. */
    private static ByteBuf begun() {
        return Buffers.join(record(RECORD)).writerIndex(HEADER + RECORD - 1);
    }

    private static ByteBuf zeros(int length) {
        return Buffers.of(new byte[length]);
    }

    @Test
    void aPartOfARecordIsChargedUntilItsRestComes() {
        EmbeddedChannel channel = secured("one");
        channel.writeInbound(begun());
        assertThat(direct.held()).isEqualTo(HEADER + RECORD);
        channel.writeInbound(zeros(1));
        assertThat(direct.held()).isZero();
    }

    @Test
    void aPartOfARecordOfAnUpstreamIsChargedUntilItsRestComesOrTheConnectionEnds() {
        EmbeddedChannel channel = open(new UpstreamRecordHandler(gate.newAccount()));
        channel.writeInbound(begun());
        assertThat(direct.held()).isEqualTo(HEADER + RECORD);
        channel.writeInbound(zeros(1));
        assertThat(direct.held()).isZero();
        channel.writeInbound(Buffers.join(record(300), record(RECORD)).writerIndex(HEADER + 300 + HEADER));
        assertThat(direct.held()).isEqualTo(HEADER + RECORD);
        assertThat(StalledPeers.ofThisLoop().cut(0, Long.MAX_VALUE, 0))
                .as("an upstream may be slow")
                .isZero();
        assertThat(channel.close().isSuccess()).isTrue();
        assertThat(direct.held()).isZero();
    }

    /** However the bytes of two records come, the same is charged where one has begun. */
    @Test
    void itIsChargedHoweverItIsSplit() {
        ByteBuf two = Buffers.join(record(300), record(RECORD));
        int all = two.readableBytes();
        for (int piece = 1; piece < 2 * HEADER; piece++) {
            EmbeddedChannel channel = secured("one");
            for (int at = 0; at < all; at += piece) {
                int length = Math.min(piece, all - at);
                channel.writeInbound(two.retainedSlice(at, length));
                int end = at + length - (HEADER + 300);
                int first = at + length >= HEADER && end < 0 ? HEADER + 300 : 0;
                int second = end >= HEADER && at + length < all ? HEADER + RECORD : 0;
                assertThat(direct.held())
                        .as("after %s bytes in pieces of %s", at + length, piece)
                        .isEqualTo(first + second);
            }
            assertThat(channel.close().isSuccess()).isTrue();
        }
        two.release();
    }

    @Test
    void whatComesBehindTheHelloIsChargedUntilTheHandshakeIsDone() {
        Promise<Object> handshake = ImmediateEventExecutor.INSTANCE.newPromise();
        EmbeddedChannel channel = connect("one", handshake);
        assertThat(direct.held()).isZero();
        channel.writeInbound(Buffers.join(record(4000)));
        channel.writeInbound(Buffers.join(record(4000)));
        assertThat(direct.held()).isEqualTo(2 * (HEADER + 4000));
        handshake.setSuccess(handshake);
        channel.writeInbound(Buffers.join(record(100)));
        assertThat(direct.held()).isZero();
    }

    @Test
    void itIsChargedUntilTheConnectionCloses() {
        EmbeddedChannel channel = secured("one");
        channel.writeInbound(begun());
        channel.close();
        channel.runPendingTasks();
        assertThat(direct.held()).isZero();
        assertThat(failures).isEmpty();
    }

    @Test
    void oneClientsHandshakesLeaveRoomForAnother() {
        int open = 0;
        for (; failures.isEmpty() && open < 100; open++) {
            shaking("greedy").writeInbound(begun());
        }
        assertThat(direct.held()).isBetween(1L << 18, 1L << 19);
        assertThat(failures).containsExactly(HandshakeFailure.OVERLOAD);
        assertThat(channels.get(open - 1).isOpen()).isFalse();
        EmbeddedChannel other = shaking("other");
        other.writeInbound(begun());
        assertThat(other.isOpen()).isTrue();
    }

    @Test
    void whoDoesNotFinishIsCutWhenMemoryIsShort() {
        EmbeddedChannel channel = secured("one");
        channel.writeInbound(begun());
        StalledPeers.ofThisLoop().cut(RECORD, Long.MAX_VALUE, 0);
        channel.runPendingTasks();
        assertThat(channel.isOpen()).isFalse();
        assertThat(failures).isEmpty(); // the handshake was done
        assertThat(direct.held()).isZero();
    }

    /** Such as for a body that its receiver does not take: then the rest cannot come. */
    @Test
    void whoIsNotReadIsNotCutForWhatHasBegun() {
        EmbeddedChannel channel = secured("one");
        channel.config().setAutoRead(false);
        channel.writeInbound(begun());
        StalledPeers.ofThisLoop().cut(StalledPeers.Memory.CHARGED_DIRECT, 1, Long.MAX_VALUE, 0, () -> {});
        assertThat(channel.isOpen()).isTrue();
        assertThat(direct.held()).isEqualTo(HEADER + RECORD);
        channel.config().setAutoRead(true);
        channel.writeInbound(zeros(0));
        StalledPeers.ofThisLoop().cut(StalledPeers.Memory.CHARGED_DIRECT, 1, Long.MAX_VALUE, 0, () -> {});
        assertThat(channel.isOpen()).isFalse();
    }

    /** Each batch of reads of an upload ends within a record: what waits then has not waited before. */
    @Test
    void whoFinishesRecordsIsCutAfterThoseWhoDoNot() {
        EmbeddedChannel busy = secured("one");
        EmbeddedChannel stalled = secured("one");
        busy.writeInbound(begun());
        stalled.writeInbound(begun());
        busy.writeInbound(Buffers.join(zeros(1), begun()));
        StalledPeers.ofThisLoop().cut(RECORD, 1, 0);
        assertThat(stalled.isOpen()).isFalse();
        assertThat(busy.isOpen()).isTrue();
    }

    /** One certificate for all. */
    private static final class AnyName implements HelloHandler.Server {
        private final SslContext context;

        AnyName() throws Exception {
            X509Bundle own = new CertificateBuilder()
                    .subject("CN=localhost")
                    .setIsCertificateAuthority(true)
                    .buildSelfSigned();
            context = SslContextBuilder.forServer(own.getKeyPair().getPrivate(), own.getCertificatePath())
                    .build();
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

    @Test
    void theHelloIsFollowedByWhatChargesTheRest() throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(true);
        ByteBuffer out = ByteBuffer.allocate(20_000);
        engine.wrap(ByteBuffer.allocate(0), out);
        EmbeddedChannel channel = open(new HelloHandler(new AnyName(), account("one"), 0));
        channel.writeInbound(Buffers.of(Arrays.copyOf(out.array(), out.position())));
        assertThat(channel.pipeline().get(SslHandler.class)).isNotNull();
        assertThat(direct.held()).isZero();
        channel.writeInbound(begun());
        assertThat(direct.held()).isEqualTo(HEADER + RECORD);
        assertThat(channel.isOpen()).isTrue();
    }
}
