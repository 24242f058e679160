package dev.gateway.protocol.http1;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.testing.CountedMemory;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A client connection on an embedded channel, with a keeper and exchanges that record what they are told. */
final class Upstream implements Http1ClientConnection.Listener {
    final EmbeddedChannel channel;
    private final CountedMemory memory;
    final TestClock clock;
    final List<String> violations = new ArrayList<>();
    final Http1ClientConnection connection;
    int socketErrors;
    int reusable;
    boolean keepsLogin;
    int closed;
    int stale;
    long keepAliveMillis;

    Upstream() {
        this(new Http1ClientSettings(new HeadLimits(1024, 4096, 20), null));
    }

    Upstream(Http1ClientSettings settings) {
        this(settings, new EmbeddedChannel());
    }

    Upstream(Http1ClientSettings settings, EmbeddedChannel channel) {
        this.channel = channel;
        this.memory = new CountedMemory(channel);
        this.clock = new TestClock(channel);
        ConnectionObserver observer = new ConnectionObserver() {
            @Override
            public void onViolation(String kind) {
                violations.add(kind);
            }

            @Override
            public void onSocketError() {
                socketErrors++;
            }
        };
        connection = new Http1ClientConnection(this, observer, clock.timers(), settings);
        channel.pipeline().addLast(connection);
    }

    static RequestHead request(String method, long length) {
        Fields fields = new Fields();
        return new RequestHead(
                Method.of(method),
                new AsciiString("http"),
                new AsciiString("a.test"),
                new AsciiString("/p?q"),
                fields,
                length);
    }

    @Override
    public boolean keepsLogin() {
        return keepsLogin;
    }

    Received open() {
        Received received = new Received();
        received.stream = connection.open(received);
        return received;
    }

    /** Opens a stream and sends a GET. */
    Received get() {
        Received received = open();
        received.stream().head(request("GET", -1), true);
        received.stream().flush();
        return received;
    }

    void respond(String bytes) {
        respond(memory.of(bytes));
    }

    void respond(ByteBuf bytes) {
        channel.writeInbound(bytes);
        channel.runPendingTasks();
    }

    String sent() {
        channel.runPendingTasks();
        StringBuilder text = new StringBuilder();
        for (ByteBuf buffer = channel.readOutbound(); buffer != null; buffer = channel.readOutbound()) {
            text.append(buffer.toString(StandardCharsets.ISO_8859_1));
            buffer.release();
        }
        return text.toString();
    }

    void finish() {
        channel.close();
        channel.runPendingTasks();
        sent();
        channel.finishAndReleaseAll();
        memory.assertNothingLeft();
        clock.assertNothingArmed();
    }

    @Override
    public void onReusable(Http1ClientConnection connection, long keepAliveMillis) {
        reusable++;
        this.keepAliveMillis = keepAliveMillis;
    }

    @Override
    public void onClosed(Http1ClientConnection connection) {
        closed++;
    }

    @Override
    public void onStale(Http1ClientConnection connection) {
        stale++;
    }

    /** A response as the core was told of it. */
    static final class Received implements ResponseEvents {
        @Nullable
        ClientStream stream;

        final List<ResponseHead> heads = new ArrayList<>();
        final StringBuilder body = new StringBuilder();
        boolean complete;
        boolean consuming = true;
        int readCompletes;
        int writables;

        @Nullable
        ConnectionInfo client;

        @Nullable
        Failure reset;

        @Nullable
        Fields trailers;

        ClientStream stream() {
            ClientStream opened = stream;
            if (opened == null) {
                throw new IllegalStateException("not open");
            }
            return opened;
        }

        @Override
        public void onHead(ResponseHead head, boolean last) {
            heads.add(head);
            complete |= last;
        }

        @Override
        public void onData(ByteBuf data, boolean last) {
            int length = data.readableBytes();
            body.append(data.toString(StandardCharsets.ISO_8859_1));
            data.release();
            if (consuming) {
                stream().consumed(length);
            }
            complete |= last;
        }

        @Override
        public void onTrailers(Fields fields) {
            trailers = fields;
            complete = true;
        }

        @Override
        public @Nullable ConnectionInfo clientConnection() {
            return client;
        }

        @Override
        public void onWritable() {
            writables++;
        }

        @Override
        public void onReadComplete() {
            readCompletes++;
        }

        @Override
        public void onReset(Failure failure) {
            reset = failure;
        }
    }
}
