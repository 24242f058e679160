package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.Account;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SniCompletionEvent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How long a client may take for its hello. */
class HelloHandlerTest {
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

    private final List<Object> events = new ArrayList<>();
    private final EmbeddedChannel channel =
            new EmbeddedChannel(new HelloHandler(NONE, Account.UNLIMITED, 1000), new ChannelInboundHandlerAdapter() {
                @Override
                public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                    events.add(event);
                }
            });

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
        assertThat(events).singleElement().isInstanceOfSatisfying(SniCompletionEvent.class, event -> assertThat(
                        event.cause())
                .isInstanceOf(SslHandshakeTimeoutException.class));
    }
}
