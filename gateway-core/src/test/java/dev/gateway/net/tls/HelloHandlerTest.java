package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a client may send as its hello, and how long it may take. */
class HelloHandlerTest {
    // Alerts
    private static final int UNEXPECTED_MESSAGE = 10;
    private static final int RECORD_OVERFLOW = 22;
    private static final int ILLEGAL_PARAMETER = 47;
    private static final int DECODE_ERROR = 50;
    private static final int PROTOCOL_VERSION = 70;

    private static final HelloHandler.Server NONE = new HelloHandler.Server() {
        @Override
        public List<String> protocols() {
            return List.of();
        }

        @Override
        public SslContext context(@Nullable String name, ByteBuf hello) {
            throw new AssertionError("nobody has said hello");
        }

        @Override
        public SslHandler handler(SslContext context, ChannelHandlerContext ctx) {
            throw new AssertionError("nobody has said hello");
        }
    };

    private final LoopBudget budget = new LoopBudget(new MemoryBudget(1 << 20, 1));
    private final Account account = new Account(budget, budget);
    private final List<Throwable> failures = new ArrayList<>();
    private EmbeddedChannel channel = open(NONE);

    private EmbeddedChannel open(HelloHandler.Server server) {
        EmbeddedChannel opened = new EmbeddedChannel();
        opened.freezeTime(); // a slow machine must not look like a slow client
        opened.pipeline().addLast(new HelloHandler(server, account, 1000), new ChannelInboundHandlerAdapter() {
            @Override
            @SuppressWarnings("deprecation")
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                failures.add(cause);
            }
        });
        opened.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                ctx.executor().execute(() -> ctx.close(promise)); // handlers hear of it after what is being read
            }
        });
        return opened;
    }

    @AfterEach
    void nothingIsCharged() {
        channel.finishAndReleaseAll();
        channel.runPendingTasks();
        assertThat(budget.held()).isZero();
    }

    @Test
    void aConnectionThatIsClosedLeavesNoTimerBehind() {
        channel.pipeline().close(); // not the channel, which would cancel what is scheduled
        channel.runPendingTasks();
        assertThat(channel.runScheduledPendingTasks()).isEqualTo(-1); // nothing is scheduled
    }

    @Test
    void whoSaysNothingIsClosed() {
        channel.advanceTimeBy(1001, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        channel.runPendingTasks();
        assertThat(channel.isOpen()).isFalse();
        assertThat(failures).singleElement().isInstanceOf(SslHandshakeTimeoutException.class);
    }

    /** Checks that the connection has ended with this alert (RFC 8446, section 6), and nothing else. */
    private void assertRefused(int alert, HandshakeFailure reason) {
        ByteBuf sent = channel.readOutbound();
        assertThat(ByteBufUtil.getBytes(sent)).containsExactly(21, 3, 3, 0, 2, 2, alert);
        sent.release();
        assertThat(channel.<Object>readOutbound()).isNull();
        assertThat(failures).singleElement().satisfies(each -> assertThat(HandshakeFailures.of(each))
                .isEqualTo(reason));
        assertThat(channel.isOpen()).isFalse();
    }

    private static ByteBuf bytes(int... bytes) {
        ByteBuf all = Buffers.of();
        for (int each : bytes) {
            all.writeByte(each);
        }
        return all;
    }

    private void receive(int... bytes) {
        channel.writeInbound(bytes(bytes));
    }

    @Test
    void aRecordThatIsTooLongIsRefusedBeforeItIsThere() {
        receive(22, 3, 1, 0x40, 1);
        assertRefused(RECORD_OVERFLOW, HandshakeFailure.OTHER);
    }

    @Test
    void aLaterRecordMayNotBeTooLongEither() {
        receive(22, 3, 1, 0, 4, 1, 0, 1, 0);
        assertThat(channel.isOpen()).isTrue();
        receive(22, 3, 1, 0xff, 0xff);
        assertRefused(RECORD_OVERFLOW, HandshakeFailure.OTHER);
    }

    @Test
    void aHelloThatIsTooLongIsRefusedBeforeItIsThere() {
        receive(22, 3, 1, 0x40, 0, 1, 1, 0, 0);
        assertRefused(ILLEGAL_PARAMETER, HandshakeFailure.OTHER);
    }

    @Test
    void aHelloThatIsTooShortIsRefused() {
        receive(22, 3, 1, 0, 5, 1, 0, 0, 1, 3);
        assertRefused(DECODE_ERROR, HandshakeFailure.OTHER);
    }

    @Test
    void aHelloOfSsl2GetsAnAlert() {
        receive(0x80, 0x2e, 1, 0, 2);
        assertRefused(PROTOCOL_VERSION, HandshakeFailure.PROTOCOL_VERSION);
    }

    @Test
    void aRecordOfAVersionThatDoesNotExistIsRefused() {
        receive(22, 5, 5, 0, 4);
        assertRefused(PROTOCOL_VERSION, HandshakeFailure.PROTOCOL_VERSION);
    }

    /** RFC 8446, appendix D.5, advises servers not to accept it. */
    @Test
    void aHelloInTheFormatOfSsl2ThatOffersTlsGetsAnAlertToo() {
        receive(0x80, 0x2e, 1, 3, 1);
        assertRefused(PROTOCOL_VERSION, HandshakeFailure.PROTOCOL_VERSION);
    }

    /** BoringSSL would ignore the warning, and take a hello that nobody has read. */
    @Test
    void noWarningMayComeBeforeAHello() {
        receive(21, 3, 1, 0, 2, 1, 90, 22, 3, 1, 0, 5, 1, 0, 0, 1, 3);
        assertRefused(UNEXPECTED_MESSAGE, HandshakeFailure.OTHER);
    }

    @Test
    void noRecordWithoutContentMayComeBeforeAHello() {
        receive(22, 3, 1, 0, 0);
        assertRefused(UNEXPECTED_MESSAGE, HandshakeFailure.OTHER);
    }

    @Test
    void noRecordWithoutContentMayComeInAHello() {
        receive(22, 3, 1, 0, 4, 1, 0, 1, 0, 22, 3, 1, 0, 0);
        assertRefused(UNEXPECTED_MESSAGE, HandshakeFailure.OTHER);
    }

    @Test
    void whatIsNotTlsGetsNoAlert() {
        receive('G', 'E', 'T', ' ', '/');
        assertThat(channel.<Object>readOutbound()).isNull();
        assertThat(failures).singleElement().isInstanceOf(NotSslRecordException.class);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void nothingIsReadAfterAFailure() {
        channel.pipeline().fireExceptionCaught(new IOException("reset")).fireChannelRead(bytes(22, 5, 5, 0, 4));
        assertThat(failures).singleElement().isInstanceOf(IOException.class);
    }

    @Test
    void whoIsRefusedIsChargedNothing() {
        channel.pipeline().fireChannelRead(bytes(22, 5, 5, 0, 4));
        assertThat(budget.held()).isZero(); // although the channel has not closed yet
        channel.runPendingTasks();
        assertRefused(PROTOCOL_VERSION, HandshakeFailure.PROTOCOL_VERSION);
    }

    /** Keeps what it is given instead of a handshake. */
    private static final class Received extends SslHandler {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        Received() throws GeneralSecurityException {
            super(newEngine(null));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf data = (ByteBuf) message;
            bytes.writeBytes(ByteBufUtil.getBytes(data));
            data.release();
        }
    }

    /** Returns the engine of a client that asks for a name, or of a server. */
    private static SSLEngine newEngine(@Nullable String name) throws GeneralSecurityException {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine(name, 443);
        engine.setUseClientMode(name != null);
        return engine;
    }

    @Test
    void aHelloThatComesInPiecesIsPassedOnWhole() throws Exception {
        ByteBuffer out = ByteBuffer.allocate(20_000);
        newEngine("a.example").wrap(ByteBuffer.allocate(0), out);
        byte[] hello = Arrays.copyOf(out.array(), out.position());
        SslContext context =
                SslContextBuilder.forClient().sslProvider(SslProvider.JDK).build();
        List<String> names = new ArrayList<>();
        List<byte[]> hellos = new ArrayList<>();
        Received received = new Received();
        channel = open(new HelloHandler.Server() {
            @Override
            public List<String> protocols() {
                return List.of();
            }

            @Override
            public SslContext context(@Nullable String name, ByteBuf hello) {
                names.add(String.valueOf(name));
                hellos.add(ByteBufUtil.getBytes(hello));
                return context;
            }

            @Override
            public SslHandler handler(SslContext chosen, ChannelHandlerContext ctx) {
                assertThat(chosen).isSameAs(context);
                return received;
            }
        });
        for (byte each : hello) {
            assertThat(names).isEmpty();
            receive(each);
        }
        assertThat(names).containsExactly("a.example");
        assertThat(hellos).containsExactly(hello);
        assertThat(received.bytes.toByteArray()).isEqualTo(hello);
        assertThat(failures).isEmpty();
    }
}
