package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.Account;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
        public SslContext context() {
            throw new AssertionError("nobody has said hello");
        }

        @Override
        public @Nullable SslContext context(@Nullable String name, ByteBuf hello) {
            return null;
        }

        @Override
        public SslHandler handler(SslContext context, ChannelHandlerContext ctx) {
            throw new AssertionError("nobody has said hello");
        }
    };

    private final List<Throwable> failures = new ArrayList<>();
    private final EmbeddedChannel channel =
            new EmbeddedChannel(new HelloHandler(NONE, Account.UNLIMITED, 1000), new ChannelInboundHandlerAdapter() {
                @Override
                @SuppressWarnings("deprecation")
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    failures.add(cause);
                }
            });

    @AfterEach
    void nothingIsLeft() {
        channel.finishAndReleaseAll();
    }

    @Test
    void aConnectionThatIsClosedLeavesNoTimerBehind() {
        channel.freezeTime();
        channel.close();
        assertThat(channel.runScheduledPendingTasks()).isEqualTo(-1); // nothing is scheduled
    }

    @Test
    void whoSaysNothingIsClosed() {
        channel.freezeTime();
        channel.advanceTimeBy(1001, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
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

    private void receive(int... bytes) {
        ByteBuf received = Buffers.of();
        for (int each : bytes) {
            received.writeByte(each);
        }
        channel.writeInbound(received);
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

    @Test
    void recordsWithoutContentMayComeBeforeAHello() {
        receive(22, 3, 1, 0, 0, 22, 3, 1);
        receive(0, 0, 22, 3, 1, 0, 5);
        assertThat(channel.isOpen()).isTrue();
        receive(1, 0, 0, 1, 3);
        assertRefused(DECODE_ERROR, HandshakeFailure.OTHER); // as without them
    }

    @Test
    void noRecordWithoutContentMayComeInAHello() {
        receive(22, 3, 1, 0, 4, 1, 0, 1, 0, 22, 3, 1, 0, 0);
        assertRefused(UNEXPECTED_MESSAGE, HandshakeFailure.OTHER);
    }
}
