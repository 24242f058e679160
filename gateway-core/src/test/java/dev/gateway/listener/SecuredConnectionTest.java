package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.listener.limit.ConnectionLimit;
import dev.gateway.message.RequestHead;
import dev.gateway.net.ByteCounter;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.overload.memory.Account;
import dev.gateway.protocol.http1.HeadLimits;
import dev.gateway.protocol.http1.Http1ServerSettings;
import dev.gateway.protocol.http2.Http2ServerSettings;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.TimerWheel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a connection does once its TLS handshake is complete. */
class SecuredConnectionTest {
    private static final class Nobody implements RequestHandler {
        @Override
        public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
            throw new AssertionError("no request comes");
        }

        @Override
        public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
            throw new AssertionError("no request comes");
        }
    }

    /** A peer that has gone, which the first write finds. */
    private static final class Gone extends ChannelOutboundHandlerAdapter {
        @Override
        public void flush(ChannelHandlerContext ctx) {
            ctx.close();
        }
    }

    /** Its timer would keep it for as long as its certificate is valid. */
    @Test
    void oneThatCannotBeWrittenToLeavesNoTimerBehind() {
        EmbeddedChannel channel = new EmbeddedChannel();
        EmbeddedChannel open = new EmbeddedChannel(); // a closed one forgets its timers
        open.freezeTime();
        ListenerSettings settings = new ListenerSettings(
                0,
                "web",
                new InetSocketAddress(0),
                ListenerSettings.Sharing.NONE,
                new ListenerSettings.Limits(0, 0),
                null,
                null,
                new ListenerSettings.Protocols(
                        new Http1ServerSettings(HeadLimits.DEFAULT, ConnectionTimeouts.NONE, false),
                        Http2ServerSettings.DEFAULT,
                        false));
        LoopConnections owner = new LoopConnections(
                new ListenerLoop(
                        channel.eventLoop(),
                        new TimerWheel(open.eventLoop(), System::nanoTime),
                        new Nobody(),
                        ConnectionObserver.NONE),
                settings,
                new ConnectionLimit(0),
                new RefusalLog(System::nanoTime));
        ByteCounter bytes =
                new ByteCounter(ConnectionObserver.NONE, owner.loop().timers());
        Connection connection = new Connection(channel, owner, owner.settingsRef(), bytes, Account.UNLIMITED);
        assertThat(owner.add(connection)).isTrue();
        channel.closeFuture().addListener(closed -> owner.remove(connection));
        channel.pipeline().addLast(new Gone(), bytes);
        long tomorrow = System.currentTimeMillis() + 86_400_000;
        connection.onSecured(channel, "h2", new TlsInfo("TLSv1.3", "any", null, "CN=alice", null, tomorrow, false, 1));
        assertThat(channel.isOpen()).isFalse();
        for (int i = 0; i < 100 && open.runScheduledPendingTasks() >= 0; i++) { // a wheel turns a little longer
            open.advanceTimeBy(1, TimeUnit.SECONDS);
        }
        assertThat(open.runScheduledPendingTasks()).as("timers still armed").isEqualTo(-1);
        open.finishAndReleaseAll();
        channel.finishAndReleaseAll();
    }
}
