package dev.gateway.protocol.http2;

import static dev.gateway.protocol.http2.Frames.block;
import static dev.gateway.protocol.http2.Frames.frame;
import static dev.gateway.protocol.http2.Frames.number;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gateway.protocol.http2.Frames.Frame;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ClientStreamContract;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The contract of streams for HTTP/2, with an upstream that keeps to the windows it is given. */
class Http2ClientStreamContractTest extends ClientStreamContract {
    private static final int STREAM = 3;
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int INITIAL_WINDOW_SIZE = 4;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Pair.Counts counts = new Pair.Counts();
    private final ByteBuf unread = Unpooled.buffer();
    private final DefaultHttp2HeadersDecoder headers = new DefaultHttp2HeadersDecoder();
    private final StringBuilder body = new StringBuilder();
    private final List<String> trailers = new ArrayList<>();
    private boolean prefaceRead;
    private boolean headRead;
    private boolean ended;
    private boolean reset;
    private int window = 65_535; // of the stream, for what the upstream sends
    private int closings;

    @Override
    protected Set<Ability> abilities() {
        return Set.of(Ability.values());
    }

    @Override
    protected ClientStream open(ResponseEvents events) {
        channel.freezeTime();
        Http2ClientConnection.Listener listener = new Http2ClientConnection.Listener() {
            @Override
            public void onReady() {}

            @Override
            public void onCapacityChanged() {}

            @Override
            public void onGoingAway(CloseCause cause) {}

            @Override
            public void onClosed() {
                closings++;
            }
        };
        Http2ClientConnection connection =
                Http2ClientConnection.create(listener, counts, Pair.wheel(channel), Http2ClientSettings.DEFAULT);
        channel.pipeline().addLast(connection);
        send(frame(Frames.SETTINGS, 0, 0), frame(Frames.SETTINGS, Frames.ACK, 0));
        return connection.open(events);
    }

    private void send(ByteBuf... frames) {
        if (channel.isOpen()) {
            channel.writeInbound(Buffers.join(frames));
            collect();
        }
    }

    /** Reads what was sent to the upstream. */
    private void collect() {
        channel.runPendingTasks();
        for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            unread.writeBytes(out);
            out.release();
        }
        if (!prefaceRead && unread.readableBytes() >= PREFACE.length) {
            prefaceRead = true;
            unread.skipBytes(PREFACE.length);
        }
        for (Frame frame : Frames.read(unread)) {
            receive(frame);
        }
    }

    private void receive(Frame frame) {
        if (frame.type() == Frames.SETTINGS) {
            for (int at = 0; at < frame.payload().readableBytes(); at += 6) {
                if (frame.payload().getUnsignedShort(at) == INITIAL_WINDOW_SIZE) {
                    window += frame.number(at + 2) - 65_535;
                }
            }
        } else if (frame.stream() == STREAM) {
            boolean last = (frame.flags() & Frames.END_STREAM) != 0;
            switch (frame.type()) {
                case Frames.HEADERS -> receiveHeaders(frame.payload());
                case Frames.DATA -> body.append(frame.payload().toString(StandardCharsets.ISO_8859_1));
                case Frames.WINDOW_UPDATE -> window += frame.number(0);
                case Frames.RST_STREAM -> reset = true;
                default -> throw new AssertionError("an unexpected frame: " + frame);
            }
            ended |= last && (frame.type() == Frames.HEADERS || frame.type() == Frames.DATA);
        }
    }

    private void receiveHeaders(ByteBuf block) {
        Http2Headers fields;
        try {
            fields = headers.decodeHeaders(STREAM, block);
        } catch (Http2Exception e) {
            throw new AssertionError(e);
        }
        if (headRead) {
            fields.forEach(field -> trailers.add(field.getKey().toString()));
        }
        headRead = true;
    }

    @Override
    protected void upstreamAnswers(int status) {
        send(frame(Frames.HEADERS, Frames.END_HEADERS, STREAM, block(":status", Integer.toString(status))));
    }

    @Override
    protected void upstreamSends(String... pieces) {
        ByteBuf[] frames = new ByteBuf[pieces.length];
        for (int i = 0; i < pieces.length; i++) {
            window -= pieces[i].length();
            frames[i] = frame(Frames.DATA, 0, STREAM, pieces[i].getBytes(StandardCharsets.ISO_8859_1));
        }
        send(frames);
    }

    @Override
    protected boolean mayUpstreamSend(int bytes) {
        collect();
        return window >= bytes;
    }

    @Override
    protected void upstreamEnds() {
        send(frame(Frames.DATA, Frames.END_STREAM, STREAM));
    }

    @Override
    protected void upstreamEndsWith(String name, String value) {
        send(frame(Frames.HEADERS, Frames.END_HEADERS | Frames.END_STREAM, STREAM, block(name, value)));
    }

    @Override
    protected void upstreamRefuses() {
        send(frame(Frames.RST_STREAM, 0, STREAM, number((int) Http2Error.REFUSED_STREAM.code())));
    }

    @Override
    protected void upstreamDies() {
        channel.close();
        channel.runPendingTasks();
    }

    /** It does so from the beginning: it opens no window beyond the one that each stream has. */
    @Override
    protected void upstreamStalls() {}

    @Override
    protected void upstreamTakesAgain() {
        send(
                frame(Frames.WINDOW_UPDATE, 0, 0, number(1 << 24)),
                frame(Frames.WINDOW_UPDATE, 0, STREAM, number(1 << 24)));
    }

    @Override
    protected String received() {
        collect();
        return body.toString();
    }

    @Override
    protected boolean hasReceivedEnd() {
        collect();
        return ended;
    }

    @Override
    protected boolean hasReceivedTrailer(String name) {
        collect();
        return trailers.contains(name);
    }

    @Override
    protected boolean hasReceivedReset() {
        collect();
        return reset;
    }

    @Override
    protected void tearDown() {
        channel.finishAndReleaseAll();
        assertEquals(1, closings);
        assertEquals(counts.opened, counts.closed);
        assertEquals(List.of(), counts.violations);
    }
}
