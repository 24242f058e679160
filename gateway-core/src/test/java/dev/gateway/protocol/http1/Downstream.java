package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.SourceAddress;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.CountedMemory;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A server connection on an embedded channel, with a core that records what it is told and answers as a test says. */
final class Downstream implements RequestHandler {
    static final Http1ServerSettings SETTINGS = new Http1ServerSettings(
            new HeadLimits(1024, 4096, 20), new ConnectionTimeouts(1_000, 2_000, 5_000, 0, 3_000), false);

    /** The same for clients that end their direction early. */
    static final Http1ServerSettings HALF_CLOSE = new Http1ServerSettings(
            new HeadLimits(1024, 4096, 20), new ConnectionTimeouts(1_000, 2_000, 5_000, 0, 3_000), true);

    final EmbeddedChannel channel;
    final TestClock clock;
    final List<Received> requests = new ArrayList<>();
    final List<String> violations = new ArrayList<>();
    final Http1ServerConnection connection;
    final CountedMemory memory;
    final Account account;
    int flushes;
    int idleCloses;
    int socketErrors;

    /** What the core does as soon as a request has come completely. */
    Answer answer = Downstream::echo;

    /** What the core does before it returns, whether or not the request is complete. */
    Answer onEveryRequest = request -> {};

    /** What the core does when a request fails. */
    Answer answerReset = request -> {};

    /** How the core answers what is no proper request. */
    Answer answerRefused = Downstream::refuse;

    /** Whether the core passes body bytes on at once. */
    boolean consuming = true;

    interface Answer {
        void to(Received request);
    }

    Downstream() {
        this(SETTINGS);
    }

    Downstream(Http1ServerSettings settings) {
        this(settings, null);
    }

    Downstream(Http1ServerSettings settings, @Nullable Upgrade h2c) {
        this(settings, h2c, new Account(new LoopBudget(new MemoryBudget(1L << 40, 1))), new EmbeddedChannel());
    }

    Downstream(Http1ServerSettings settings, Account account, EmbeddedChannel channel) {
        this(settings, null, account, channel);
    }

    private Downstream(Http1ServerSettings settings, @Nullable Upgrade h2c, Account account, EmbeddedChannel channel) {
        this.account = account;
        this.channel = channel;
        this.clock = new TestClock(channel);
        this.memory = new CountedMemory(channel);
        SourceAddress client = SourceAddress.of(null);
        ConnectionInfo info = new ConnectionInfo(0, "test", HttpVersion.HTTP_1_1, client, client, null, null, account);
        ConnectionObserver observer = new ConnectionObserver() {
            @Override
            public void onViolation(String kind) {
                violations.add(kind);
            }

            @Override
            public void onIdleClosed() {
                idleCloses++;
            }

            @Override
            public void onSocketError() {
                socketErrors++;
            }
        };
        connection = new Http1ServerConnection(info, this, observer, clock.timers(), settings, h2c);
        channel.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {
                flushes++;
                ctx.flush();
            }
        });
        channel.pipeline().addLast(connection);
    }

    /** Answers with what the request was. */
    static void echo(Received request) {
        ByteBuf body = Buffers.of(request.body.toString());
        request.stream.head(new ResponseHead(200, null, new Fields(), body.readableBytes()), false);
        request.stream.data(body, true);
        request.stream.flush();
    }

    static void refuse(Received request) {
        Failure failure = Objects.requireNonNull(request.refused);
        request.stream.head(new ResponseHead(failure.status(), null, new Fields(), 0), true);
        request.stream.flush();
    }

    /** Sends; what comes after the connection has closed is lost, as it is on a network. */
    void send(String bytes) {
        if (!channel.isOpen()) {
            return;
        }
        channel.writeInbound(memory.of(bytes));
        channel.runPendingTasks();
    }

    /** Returns what was sent to the client since the last call. */
    String sent() {
        channel.runPendingTasks();
        StringBuilder text = new StringBuilder();
        for (ByteBuf buffer = channel.readOutbound(); buffer != null; buffer = channel.readOutbound()) {
            text.append(buffer.toString(StandardCharsets.ISO_8859_1));
            buffer.release();
        }
        return text.toString();
    }

    /** Ends the client's direction. */
    void fin() {
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        channel.runPendingTasks();
    }

    /** Returns what has come of all that was sent, as a text for comparisons. */
    String outcome() {
        StringBuilder outcome = new StringBuilder();
        for (Received request : requests) {
            if (request.refused != null) {
                outcome.append("refused ").append(request.refused.status());
            } else if (request.reset != null) {
                outcome.append("reset ").append(request.reset.status()).append(request.headText());
            } else {
                outcome.append(request.complete ? "complete " : "incomplete ")
                        .append(request.headText())
                        .append(request.body)
                        .append(request.trailers);
            }
            outcome.append('\n');
        }
        // Of two breaches in a head, the one that is found first is the one that is counted.
        return outcome.append(violations.isEmpty())
                .append(channel.isOpen() ? "open" : "closed")
                .toString();
    }

    Received last() {
        return requests.get(requests.size() - 1);
    }

    /** Closes everything; call it at the end of a test, so that leaks are seen. */
    void finish() {
        channel.close();
        channel.runPendingTasks();
        sent();
        channel.finishAndReleaseAll();
        memory.assertNothingLeft();
        assertEquals(0, account.held(), "bytes charged");
        clock.assertNothingArmed();
    }

    @Override
    public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
        Received request = new Received(stream, head);
        requests.add(request);
        request.complete = last;
        onEveryRequest.to(request);
        if (last) {
            answer.to(request);
        }
        return request;
    }

    @Override
    public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
        Received request = new Received(stream, head);
        request.refused = failure;
        requests.add(request);
        answerRefused.to(request);
    }

    /** A request as the core was told of it. */
    final class Received implements StreamEvents {
        final ServerStream stream;
        final @Nullable RequestHead head;
        final StringBuilder body = new StringBuilder();
        boolean complete;
        int readCompletes;
        int writables;
        int drainings;

        @Nullable
        Failure refused;

        @Nullable
        Failure reset;

        @Nullable
        Fields trailers;

        Received(ServerStream stream, @Nullable RequestHead head) {
            this.stream = stream;
            this.head = head;
        }

        String headText() {
            RequestHead known = Objects.requireNonNull(head);
            String target = known.authority() + " " + known.path() + " " + known.protocol();
            return known.method() + " " + target + "\n" + known.fields();
        }

        @Override
        public void onData(ByteBuf data, boolean last) {
            int length = data.readableBytes();
            body.append(data.toString(StandardCharsets.ISO_8859_1));
            data.release();
            if (consuming) {
                stream.consumed(length);
            }
            if (last) {
                end();
            }
        }

        @Override
        public void onTrailers(Fields fields) {
            trailers = fields;
            end();
        }

        private void end() {
            complete = true;
            answer.to(this);
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
        public void onDraining() {
            drainings++;
        }

        @Override
        public void onReset(Failure failure) {
            reset = failure;
            answerReset.to(this);
        }
    }
}
