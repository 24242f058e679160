package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.protocol.http1.ForwardedMessages;
import dev.gateway.protocol.http2.Frames.Frame;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.CountedMemory;
import dev.gateway.testing.FuzzInput;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What an upstream sends to a client connection of HTTP/2, and what is forwarded of it. Before, it has sent its settings, and
 * the connection has three requests under way: GET on stream 1, HEAD on stream 3, and POST on stream 5, which is not complete.
 * The first control byte says whether records follow, of which frames are made (0), or bytes (1). Then follows how the bytes
 * are cut.
 */
final class Http2ClientFuzz {
    private static final int RAW = 1;
    private static final List<String> METHODS = List.of("GET", "HEAD", "POST");

    private static final Http2ClientSettings SETTINGS =
            new Http2ClientSettings(8, 16, 65_535, 2 * 65_535, 1024, 20, 3_000);

    /** All time limits, and what comes behind them. */
    private static final long LONG = 60_000;

    private Http2ClientFuzz() {}

    public static void fuzzerTestOneInput(byte[] bytes) {
        FuzzInput input = new FuzzInput(bytes);
        boolean raw = (input.control() & RAW) != 0;
        FuzzInput.Cut cut = input.cut();
        byte[] rest = input.rest();
        byte[] sent = raw ? rest : FuzzFrames.ofRecords(rest);
        Upstream whole = new Upstream(List.of(sent));
        Upstream pieces = new Upstream(cut.pieces(sent));
        // Frames are judged before those ahead of them in the same read are handled, so the way to an error depends on
        // the cut. A GOAWAY among those may end the connection before the frame that breaks a rule is there.
        if (!FuzzFrames.hasGoaway(sent, 0)) {
            assertEquals(whole.error, pieces.error);
        }
        if (!whole.error && !pieces.error) {
            assertEquals(whole.outcome, pieces.outcome);
        }
        for (Exchange exchange : whole.exchanges) {
            if (exchange.ended && exchange.failure == null) {
                ForwardedMessages.checkResponse(
                        exchange.method, exchange.heads, exchange.body.toString(), exchange.trailers);
            }
        }
    }

    /** An upstream that sends pieces, and takes what it gets. */
    private static final class Upstream implements Http2ClientConnection.Listener {
        final List<Exchange> exchanges = new ArrayList<>();
        final boolean error;
        final String outcome;
        private final EmbeddedChannel channel = new EmbeddedChannel();
        private final ByteBuf got = Unpooled.buffer();
        private int closed;

        Upstream(List<byte[]> pieces) {
            channel.freezeTime();
            CountedMemory memory = new CountedMemory(channel);
            Pair.Counts counts = new Pair.Counts();
            Http2ClientConnection connection =
                    Http2ClientConnection.create(this, counts, Pair.wheel(channel), SETTINGS);
            channel.pipeline().addLast(connection);
            channel.writeInbound(memory.of(ByteBufUtil.getBytes(Unpooled.wrappedBuffer(
                    Frames.frame(Frames.SETTINGS, 0, 0), Frames.frame(Frames.SETTINGS, Frames.ACK, 0)))));
            for (String method : METHODS) {
                exchanges.add(new Exchange(connection, method));
            }
            collect();
            ByteBuf sent = Unpooled.buffer();
            for (byte[] piece : pieces) {
                if (channel.isOpen()) {
                    channel.writeInbound(memory.of(piece));
                    collect();
                    sent.writeBytes(piece);
                }
            }
            boolean open = channel.isOpen();
            List<Frame> received = Frames.read(got.skipBytes(24));
            error = FuzzFrames.isError(received);
            outcome = outcome(open);
            FuzzFrames.check(received, FuzzFrames.whole(sent));
            channel.close();
            collect();
            channel.finishAndReleaseAll();
            memory.assertNothingLeft();
            assertEquals(1, closed);
            assertEquals(counts.opened, counts.closed);
            for (Exchange exchange : exchanges) {
                assertTrue(exchange.ended || exchange.failure != null, "each exchange ends");
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
            for (Exchange exchange : exchanges) {
                text.append(exchange).append('\n');
            }
            return text.append(open ? "open" : "closed").toString();
        }

        @Override
        public void onReady() {}

        @Override
        public void onCapacityChanged() {}

        @Override
        public void onGoingAway(CloseCause cause) {}

        @Override
        public void onClosed() {
            closed++;
        }
    }

    /** A request, and its response as it comes. */
    private static final class Exchange implements ResponseEvents {
        final String method;
        final List<ResponseHead> heads = new ArrayList<>();
        final StringBuilder body = new StringBuilder();
        private final ClientStream stream;
        boolean ended;

        @Nullable
        Fields trailers;

        @Nullable
        Failure failure;

        Exchange(Http2ClientConnection connection, String method) {
            this.method = method;
            stream = Objects.requireNonNull(connection.open(this));
            boolean hasBody = method.equals("POST");
            RequestHead head = new RequestHead(
                    Method.of(method),
                    Scheme.HTTP,
                    new AsciiString("a.test"),
                    new AsciiString("/"),
                    new Fields(),
                    hasBody ? RequestHead.UNKNOWN_LENGTH : 0);
            stream.head(head, !hasBody);
            if (hasBody) {
                stream.data(Buffers.of("ab"), false);
            }
            stream.flush();
        }

        private void checkOpen() {
            assertFalse(ended, "nothing follows the end of a response");
            assertNull(failure, "nothing follows a failure");
        }

        private boolean isBegun() {
            return !heads.isEmpty() && !heads.get(heads.size() - 1).isInterim();
        }

        @Override
        public void onHead(ResponseHead head, boolean last) {
            checkOpen();
            assertFalse(isBegun(), "nothing but interim heads comes before a head");
            heads.add(head);
            assertFalse(last && head.isInterim());
            ended = last;
        }

        @Override
        public void onData(ByteBuf data, boolean last) {
            checkOpen();
            assertTrue(isBegun(), "a head comes before the body");
            int length = data.readableBytes();
            body.append(data.toString(StandardCharsets.ISO_8859_1));
            data.release();
            stream.consumed(length);
            ended = last;
        }

        @Override
        public void onTrailers(Fields fields) {
            checkOpen();
            assertTrue(isBegun(), "a head comes before the trailers");
            trailers = fields;
            ended = true;
        }

        @Override
        public void onWritable() {}

        @Override
        public void onReadComplete() {}

        @Override
        public void onReset(Failure reset) {
            assertNull(failure, "an exchange fails once");
            failure = reset;
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder();
            for (ResponseHead head : heads) {
                text.append(head.status()).append('\n').append(head.fields());
            }
            if (failure != null) {
                return text.append(failure.cause()).toString();
            }
            return text.append(ended ? "ended " : "")
                    .append(body)
                    .append(trailers)
                    .toString();
        }
    }
}
