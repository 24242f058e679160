package dev.gateway.protocol.http2;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.Stream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A server and a client connection, wired to each other in memory; both sides' events are recorded. */
final class Pair implements AutoCloseable {
    final Recorder recorder = new Recorder();
    final List<Exchange> requests = recorder.requests;
    final List<String> life = new ArrayList<>();
    final Counts serverCounts = new Counts();
    final Counts clientCounts = new Counts();
    final Http2ServerConnection server;
    final Http2ClientConnection client;
    final EmbeddedChannel serverChannel = new EmbeddedChannel();
    final EmbeddedChannel clientChannel = new EmbeddedChannel();

    Pair() {
        this(Http2ServerSettings.DEFAULT, Http2ClientSettings.DEFAULT);
    }

    Pair(Http2ServerSettings serverSettings, Http2ClientSettings clientSettings) {
        serverChannel.freezeTime();
        clientChannel.freezeTime();
        server = Http2ServerConnection.create(info(), recorder, serverCounts, wheel(serverChannel), serverSettings);
        client = Http2ClientConnection.create(listener(), clientCounts, wheel(clientChannel), clientSettings);
        clientChannel.pipeline().addLast(client);
        serverChannel.pipeline().addLast(server);
        pump();
    }

    static TimerWheel wheel(EmbeddedChannel channel) {
        return new TimerWheel(
                channel.eventLoop(), () -> channel.eventLoop().ticker().nanoTime());
    }

    static ConnectionInfo info() {
        return new ConnectionInfo(0, "test", HttpVersion.HTTP_2, null, null, null);
    }

    Http2ClientConnection.Listener listener() {
        return new Http2ClientConnection.Listener() {
            @Override
            public void onReady() {
                life.add("ready");
            }

            @Override
            public void onCapacityChanged() {}

            @Override
            public void onGoingAway(CloseCause cause) {
                life.add("going away");
            }

            @Override
            public void onClosed() {
                life.add("closed");
            }
        };
    }

    /** Carries bytes both ways until nothing moves any more. */
    void pump() {
        boolean moved = true;
        while (moved) {
            clientChannel.runPendingTasks();
            serverChannel.runPendingTasks();
            boolean sent = carry(clientChannel, serverChannel);
            moved = carry(serverChannel, clientChannel) || sent;
        }
    }

    private static boolean carry(EmbeddedChannel from, EmbeddedChannel to) {
        boolean moved = false;
        for (ByteBuf out = from.readOutbound(); out != null; out = from.readOutbound()) {
            moved = true;
            if (to.isOpen()) {
                to.writeOneInbound(out);
            } else {
                out.release();
            }
        }
        if (moved && to.isOpen()) {
            to.flushInbound();
        }
        if (!from.isOpen() && to.isOpen()) {
            to.close();
            moved = true;
        }
        return moved;
    }

    void advance(EmbeddedChannel channel, long millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        pump();
    }

    Exchange open() {
        Exchange exchange = new Exchange();
        exchange.client = client.open(exchange);
        exchange.stream = exchange.client;
        return exchange;
    }

    @Override
    public void close() {
        clientChannel.finishAndReleaseAll();
        serverChannel.finishAndReleaseAll();
    }

    /** Takes requests and answers nothing but refusals. */
    static final class Recorder implements RequestHandler {
        final List<Exchange> requests = new ArrayList<>();
        final List<Failure> refused = new ArrayList<>();
        boolean hasNoRoom;
        boolean holdRefused; // as a client does that takes nothing of the answers

        @Override
        public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
            Exchange exchange = new Exchange();
            exchange.server = stream;
            exchange.stream = stream;
            exchange.request = head;
            exchange.ended = last;
            requests.add(exchange);
            if (hasNoRoom) {
                stream.refuse(Failure.of(Cause.OVERLOAD, "made by the test"));
            }
            return exchange;
        }

        @Override
        public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
            refused.add(failure);
            if (holdRefused) {
                return;
            }
            stream.head(new ResponseHead(failure.status(), null, new Fields(), 0), true);
            stream.flush();
        }
    }

    /** What happened on one stream, seen from one side. */
    static final class Exchange implements ResponseEvents {
        @Override
        public @Nullable ConnectionInfo clientConnection() {
            return connection;
        }

        @Nullable
        ServerStream server;

        dev.gateway.stream.@Nullable ClientStream client;

        @Nullable
        Stream stream;

        @Nullable
        ConnectionInfo connection; // of the client whose request goes upstream

        @Nullable
        RequestHead request;

        final List<ResponseHead> heads = new ArrayList<>();
        final List<String> unresponsive = new ArrayList<>();
        final StringBuilder body = new StringBuilder();
        int received;
        boolean keepCredit;
        boolean ended;
        int writable;
        int drainings;
        int readCompletes;

        @Nullable
        Fields trailers;

        @Nullable
        Failure failure;

        Runnable onReset = () -> {};
        Runnable onWritable = () -> {};
        Runnable onReadComplete = () -> {};

        dev.gateway.stream.ClientStream client() {
            return Objects.requireNonNull(client, "it was not sent by the client");
        }

        ServerStream server() {
            return Objects.requireNonNull(server, "it did not come to the server");
        }

        RequestHead request() {
            return Objects.requireNonNull(request, "no head of a request came");
        }

        Fields trailers() {
            return Objects.requireNonNull(trailers, () -> "no trailers came: " + this);
        }

        Failure failed() {
            return Objects.requireNonNull(failure, () -> "it did not fail: " + this);
        }

        @Override
        public String toString() {
            return heads.size() + " heads, " + received + " bytes" + (ended ? ", ended" : "")
                    + (failure == null ? "" : ", " + failure);
        }

        @Override
        public void onUnresponsive(String why) {
            unresponsive.add(why);
        }

        @Override
        public void onHead(ResponseHead head, boolean last) {
            heads.add(head);
            ended = last;
        }

        @Override
        public void onData(ByteBuf data, boolean last) {
            int length = data.readableBytes();
            received += length;
            if (body.length() < 1000) {
                body.append(data.toString(StandardCharsets.US_ASCII));
            }
            data.release();
            ended = last;
            if (!keepCredit && stream != null) {
                stream.consumed(length);
            }
        }

        @Override
        public void onTrailers(Fields fields) {
            trailers = fields;
            ended = true;
        }

        @Override
        public void onWritable() {
            writable++;
            onWritable.run();
        }

        @Override
        public void onReadComplete() {
            readCompletes++;
            onReadComplete.run();
        }

        @Override
        public void onDraining() {
            drainings++;
        }

        @Override
        public void onReset(Failure failure) {
            this.failure = failure;
            onReset.run();
        }
    }

    /** What an observer is told. */
    static final class Counts implements ConnectionObserver {
        final int[] sent = new int[16];
        final int[] sentBytes = new int[16];
        final int[] received = new int[16];
        final List<String> violations = new ArrayList<>();
        int flushes;
        int pauses;
        int opened;
        int closed;
        int idle;

        @Override
        public void onFrameSent(int type, int length) {
            sent[type]++;
            sentBytes[type] += length;
        }

        @Override
        public void onFrameReceived(int type, int length) {
            received[type & 15]++;
        }

        @Override
        public void onViolation(String kind) {
            violations.add(kind);
        }

        @Override
        public void onFlushed() {
            flushes++;
        }

        @Override
        public void onFlowControlPaused() {
            pauses++;
        }

        @Override
        public void onStreamOpened() {
            opened++;
        }

        @Override
        public void onStreamClosed() {
            closed++;
        }

        @Override
        public void onIdleClosed() {
            idle++;
        }
    }
}
