package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.listener.limit.ConnectionLimit;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ByteCounter;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.overload.Resource;
import dev.gateway.overload.memory.Account;
import dev.gateway.protocol.http1.HeadLimits;
import dev.gateway.protocol.http1.Http1ServerSettings;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.IgnoredEvents;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which connections are closed to make room for others. */
class GiveWayTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final List<ServerStream> streams = new ArrayList<>();
    private long now;
    private final LoopConnections owner = owner();
    private final Connection connection = connection();

    private LoopConnections owner() {
        ListenerSettings settings = new ListenerSettings(
                0,
                "web",
                new InetSocketAddress(0),
                ListenerSettings.Sharing.NONE,
                new ListenerSettings.Limits(0, 0),
                null,
                null,
                new ListenerSettings.Protocols(
                        new Http1ServerSettings(HeadLimits.DEFAULT, ConnectionTimeouts.NONE, false), null, false));
        RequestHandler handler = new RequestHandler() {
            @Override
            public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
                streams.add(stream);
                return new IgnoredEvents();
            }

            @Override
            public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
                throw new AssertionError("no request is refused");
            }
        };
        return new LoopConnections(
                new ListenerLoop(
                        channel.eventLoop(),
                        new TimerWheel(channel.eventLoop(), () -> now),
                        handler,
                        ConnectionObserver.NONE),
                settings,
                new ConnectionLimit(settings.limits().maxConnections()),
                new RefusalLog(() -> now));
    }

    private Connection connection() {
        ByteCounter bytes =
                new ByteCounter(ConnectionObserver.NONE, owner.loop().timers());
        Connection made = new Connection(channel, owner, owner.settingsRef(), bytes, Account.UNLIMITED);
        assertThat(owner.add(made)).isTrue();
        channel.closeFuture().addListener(closed -> owner.remove(made));
        channel.pipeline().addLast(bytes);
        made.start();
        return made;
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private void ask() {
        ByteBuf request = Unpooled.copiedBuffer("GET / HTTP/1.1\r\nHost: x\r\n\r\n", StandardCharsets.US_ASCII);
        channel.writeInbound(request);
    }

    private void refuse(long restMillis) {
        streams.get(streams.size() - 1).delayNextRequest(closing -> restMillis);
        answer();
    }

    private void answer() {
        ServerStream stream = streams.get(streams.size() - 1);
        stream.head(new ResponseHead(200, null, new Fields(), 0), true);
        stream.flush();
    }

    private void pass(long millis) {
        now += TimeUnit.MILLISECONDS.toNanos(millis);
    }

    @Test
    void oneThatHasJustComeStaysAndOneThatSaysNothingDoesNot() {
        pass(1_900);
        assertThat(connection.giveWay(Resource.CLIENT_HEAP, false)).isFalse();
        pass(200);
        assertThat(connection.giveWay(Resource.CLIENT_HEAP, false)).isTrue();
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void oneWithARequestUnderWayStaysHoweverLongThatTakes() {
        ask();
        pass(100_000);
        assertThat(connection.giveWay(Resource.CLIENT_HEAP, false)).isFalse();
        answer();
        assertThat(connection.giveWay(Resource.CLIENT_HEAP, false)).isFalse(); // the client may be about to ask again
        pass(2_100);
        assertThat(connection.giveWay(Resource.CLIENT_HEAP, false)).isTrue();
    }

    @Test
    void oneThatWasServedGivesWayATenthOfASecondLaterIfNothingIsLeft() {
        ask();
        pass(100_000);
        assertThat(connection.giveWay(Resource.OPEN_FILES, true)).isFalse();
        answer();
        pass(90);
        assertThat(connection.giveWay(Resource.OPEN_FILES, true)).isFalse();
        pass(20);
        assertThat(connection.giveWay(Resource.OPEN_FILES, false)).isFalse();
        assertThat(connection.giveWay(Resource.OPEN_FILES, true)).isTrue();
        assertThat(channel.isOpen()).isFalse();
    }

    /** Its first request may be on the way, which takes a while over a slow network. */
    @Test
    void oneThatHasJustComeStaysThoughNothingIsLeft() {
        pass(1_900);
        assertThat(connection.giveWay(Resource.OPEN_FILES, true)).isFalse();
    }

    /** As one that has done its TLS handshake, and waits for the settings of HTTP/2 before it asks. */
    @Test
    void oneThatHasNotAskedYetStaysThoughNothingIsLeft() {
        channel.writeInbound(Unpooled.copiedBuffer("\r\n", StandardCharsets.US_ASCII)); // allowed before a request
        pass(1_900);
        assertThat(connection.giveWay(Resource.OPEN_FILES, true)).isFalse();
        ask();
        answer();
        pass(110);
        assertThat(connection.giveWay(Resource.OPEN_FILES, true)).isTrue();
    }

    @Test
    void oneWhoseClientWasRefusedIsClosedAtOnce() {
        ask();
        refuse(0);
        assertThat(connection.giveWay(Resource.CLIENT_HEAP, false)).isTrue();
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void oneWhoseClientIsServedAfterARefusalStays() {
        ask();
        refuse(0);
        ask();
        assertThat(connection.giveWay(Resource.CLIENT_HEAP, false)).isFalse();
        answer();
        assertThat(connection.giveWay(Resource.CLIENT_HEAP, false)).isFalse();
    }

    @Test
    void oneWhoseClientRestsAfterARefusalIsClosedWhateverItHasSent() {
        ask();
        refuse(500);
        ask();
        assertThat(connection.giveWay(Resource.CLIENT_HEAP, false)).isTrue();
        assertThat(channel.isOpen()).isFalse();
    }
}
