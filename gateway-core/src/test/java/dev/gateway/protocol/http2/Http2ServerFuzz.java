package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.protocol.http1.ForwardedMessages;
import dev.gateway.protocol.http2.Frames.Frame;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.SourceAddress;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.CountedMemory;
import dev.gateway.testing.FuzzInput;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a client sends to a server connection of HTTP/2, and what is forwarded of it. The first control byte says whether
 * records follow, of which frames are made behind a preface (0), or bytes (1). It also says whether requests are answered when
 * they are complete (0), or not at all (2). Then follows how the bytes are cut.
 */
final class Http2ServerFuzz {
    private static final int RAW = 1;
    private static final int SILENT = 2;
    private static final int PREFACE = 24; // bytes before the first frame

    private static final Http2ServerSettings SETTINGS = new Http2ServerSettings(
            Http2ServerSettings.Streams.DEFAULT.withMaxConcurrent(8),
            new Http2ServerSettings.Heads(1024, 20),
            new ConnectionTimeouts(1_000, 2_000, 5_000, 0, 3_000));

    /** All time limits, and what comes behind them. */
    private static final long LONG = 60_000;

    private Http2ServerFuzz() {}

    public static void fuzzerTestOneInput(byte[] bytes) {
        FuzzInput input = new FuzzInput(bytes);
        int control = input.control();
        FuzzInput.Cut cut = input.cut();
        byte[] rest = input.rest();
        byte[] sent = (control & RAW) != 0 ? rest : withPreface(FuzzFrames.ofRecords(rest));
        Client whole = new Client(control, List.of(sent));
        Client pieces = new Client(control, cut.pieces(sent));
        // Frames are judged before those ahead of them in the same read are handled, so the way to an error depends on
        // the cut. A GOAWAY among those may end the connection before the frame that breaks a rule is there.
        if (!FuzzFrames.hasGoaway(sent, PREFACE)) {
            assertEquals(whole.error, pieces.error);
        }
        if (!whole.error && !pieces.error) {
            assertEquals(whole.outcome, pieces.outcome);
        }
        for (Request request : whole.requests) {
            if (request.failure == null && request.head.isConnect()) {
                ForwardedMessages.checkTunnel(request.head);
            } else if (request.failure == null && request.ended) {
                ForwardedMessages.checkRequest(request.head, request.body.toString(), request.trailers);
            }
        }
    }

    private static byte[] withPreface(byte[] frames) {
        ByteBuf all = Unpooled.wrappedBuffer(Frames.preface(), Unpooled.wrappedBuffer(frames));
        return ByteBufUtil.getBytes(all);
    }

    /** A client that sends pieces, and takes what it gets. */
    private static final class Client implements RequestHandler {
        final List<Request> requests = new ArrayList<>();
        final List<Failure> refused = new ArrayList<>();
        final boolean error;
        final String outcome;
        private final EmbeddedChannel channel = new EmbeddedChannel();
        private final ByteBuf got = Unpooled.buffer();
        private final boolean silent;

        Client(int control, List<byte[]> pieces) {
            silent = (control & SILENT) != 0;
            channel.freezeTime();
            CountedMemory memory = new CountedMemory(channel);
            Account account = new Account(new LoopBudget(new MemoryBudget(1L << 40, 1)));
            Pair.Counts counts = new Pair.Counts();
            SourceAddress source = SourceAddress.of(null);
            ConnectionInfo info =
                    new ConnectionInfo(0, "test", HttpVersion.HTTP_2, source, source, null, null, account);
            channel.pipeline().addLast(Http2ServerConnection.create(info, this, counts, Pair.wheel(channel), SETTINGS));
            ByteBuf sent = Unpooled.buffer();
            for (byte[] piece : pieces) {
                if (channel.isOpen()) {
                    channel.writeInbound(memory.of(piece));
                    collect();
                    sent.writeBytes(piece);
                }
            }
            boolean open = channel.isOpen();
            List<Frame> received = Frames.read(got.duplicate());
            error = FuzzFrames.isError(received);
            outcome = outcome(open);
            FuzzFrames.check(received, FuzzFrames.whole(sent.skipBytes(Math.min(PREFACE, sent.readableBytes()))));
            checkEnd(open, received);
            channel.close();
            collect();
            channel.finishAndReleaseAll();
            memory.assertNothingLeft();
            assertEquals(0, account.held(), "bytes charged");
            assertEquals(counts.opened, counts.closed);
            for (Request request : requests) {
                assertTrue(request.answered || request.failure != null, "each request ends");
            }
            channel.advanceTimeBy(LONG, TimeUnit.MILLISECONDS);
            assertEquals(-1, channel.runScheduledPendingTasks(), "a timer is left");
        }

        private void collect() {
            channel.runPendingTasks();
            for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
                got.writeBytes(out);
                out.release();
            }
        }

        private String outcome(boolean open) {
            StringBuilder text = new StringBuilder();
            for (Request request : requests) {
                text.append(request).append('\n');
            }
            for (Failure failure : refused) {
                text.append("refused ").append(failure.status()).append('\n');
            }
            return text.append(open ? "open" : "closed").toString();
        }

        /** A connection that the server ends has got a GOAWAY that says why. */
        private void checkEnd(boolean open, List<Frame> received) {
            if (!open) {
                assertTrue(error, received::toString);
            }
        }

        @Override
        public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
            Request request = new Request(stream, head, silent);
            requests.add(request);
            if (last) {
                request.end();
            }
            return request;
        }

        @Override
        public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
            assertTrue(failure.status() >= 400 && failure.status() < 500, failure::toString);
            refused.add(failure);
            stream.head(new ResponseHead(failure.status(), null, new Fields(), 0), true);
            stream.flush();
        }
    }

    /** A request, which is answered with its body. */
    private static final class Request implements StreamEvents {
        final RequestHead head;
        final StringBuilder body = new StringBuilder();
        private final ServerStream stream;
        private final boolean silent;
        boolean ended;
        boolean answered;

        @Nullable
        Fields trailers;

        @Nullable
        Failure failure;

        Request(ServerStream stream, RequestHead head, boolean silent) {
            this.stream = stream;
            this.head = head;
            this.silent = silent;
        }

        @Override
        public void onData(ByteBuf data, boolean last) {
            checkOpen();
            int length = data.readableBytes();
            body.append(data.toString(StandardCharsets.ISO_8859_1));
            data.release();
            stream.consumed(length);
            if (last) {
                end();
            }
        }

        @Override
        public void onTrailers(Fields fields) {
            checkOpen();
            trailers = fields;
            end();
        }

        private void checkOpen() {
            assertFalse(ended, "nothing follows the end of a request");
            assertNull(failure, "nothing follows a failure");
        }

        void end() {
            ended = true;
            if (!silent) {
                answered = true;
                stream.head(new ResponseHead(200, null, new Fields(), -1), false);
                stream.data(Buffers.of(body.toString()), true);
                stream.flush();
            }
        }

        @Override
        public void onWritable() {}

        @Override
        public void onReadComplete() {}

        @Override
        public void onReset(Failure reset) {
            assertNull(failure, "a request fails once");
            failure = reset;
        }

        @Override
        public String toString() {
            String target = head.authority() + " " + head.path() + " " + head.protocol();
            return head.method() + " " + target + "\n" + head.fields()
                    + (failure == null ? (ended ? "ended " : "") + body + trailers : failure.cause());
        }
    }
}
