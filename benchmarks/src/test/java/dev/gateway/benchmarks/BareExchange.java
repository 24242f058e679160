package dev.gateway.benchmarks;

import dev.gateway.exchange.ExchangeHandler;
import dev.gateway.exchange.settings.ListenerRoutes;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.ServerStream;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Exchanges between two protocols that do nothing: a request, and its response of one chunk. */
final class BareExchange {
    private static final int CHUNK = 100;
    private static final AsciiString TYPE = new AsciiString("text/plain");

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final Side side = new Side();
    private final ByteBuf bytes = Unpooled.directBuffer(CHUNK).writeZero(CHUNK);
    private final ByteBuf chunk = Unpooled.unreleasableBuffer(bytes);
    private final ExchangeHandler handler = new ExchangeHandler(
            (upstream, endpoint, demand, client, events, callback) -> {
                side.events = events;
                callback.onOpened(side, Side.HOP);
                return StreamOpener.Opening.DONE;
            },
            new TimerWheel(loop.eventLoop()),
            ExchangeObserver.NONE);

    /** Makes it, with what decides about requests. */
    BareExchange(ListenerRoutes routes) {
        handler.use(routes, () -> {});
    }

    /**
     * Serves a request, and returns how many exchanges have not ended. Waits if a filter holds the request until another
     * thread has answered.
     *
     * @throws IllegalStateException if the request is refused
     */
    int serve(RequestHead request) {
        side.events = null;
        handler.onRequest(side, request, true);
        while (side.events == null) {
            if (handler.active() == 0) {
                throw new IllegalStateException("refused");
            }
            loop.runPendingTasks();
            Thread.onSpinWait();
        }
        return answer(side.events);
    }

    private int answer(ResponseEvents events) {
        Fields answered = new Fields();
        answered.add(FieldName.CONTENT_TYPE, TYPE);
        events.onHead(new ResponseHead(200, null, answered, CHUNK), false);
        events.onData(chunk, true);
        events.onReadComplete();
        return handler.active();
    }

    void close() {
        if (handler.active() != 0) {
            throw new IllegalStateException("exchanges have not ended");
        }
        loop.finishAndReleaseAll();
        bytes.release();
    }

    /** Both sides of all exchanges; takes what it is given. */
    private static final class Side implements ServerStream, ClientStream {
        private static final DialedPeer HOP = new DialedPeer("127.0.0.1:9000", "");
        private static final ConnectionInfo CLIENT = new ConnectionInfo(
                0,
                "web",
                HttpVersion.HTTP_1_1,
                new InetSocketAddress("192.0.2.7", 5555),
                new InetSocketAddress("127.0.0.1", 8080),
                null);

        private @Nullable ResponseEvents events;

        @Override
        public void head(ResponseHead head, boolean last) {}

        @Override
        public void head(RequestHead head, boolean last) {}

        @Override
        public ConnectionInfo connection() {
            return CLIENT;
        }

        @Override
        public void data(ByteBuf data, boolean last) {
            data.release();
        }

        @Override
        public void trailers(Fields fields) {}

        @Override
        public void flush() {}

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public void consumed(int bytes) {}

        @Override
        public void reset(Failure failure) {}
    }
}
