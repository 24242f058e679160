package dev.gateway.protocol.http2;

import dev.gateway.protocol.http2.Frames.Frame;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A client that sends any frames it likes to a server connection, and sees each frame of the answer. */
final class RawClient implements AutoCloseable {
    final EmbeddedChannel channel = new EmbeddedChannel();
    final Pair.Recorder recorder = new Pair.Recorder();
    final Pair.Counts counts = new Pair.Counts();
    final List<Frame> received = new ArrayList<>();
    final Http2ServerConnection server;
    private final ByteBuf unread = Unpooled.buffer();

    RawClient() {
        this(Http2ServerSettings.DEFAULT);
    }

    RawClient(Http2ServerSettings settings) {
        this(settings, true);
    }

    RawClient(Http2ServerSettings settings, boolean preface) {
        this(Pair.info(), settings, preface);
    }

    RawClient(ConnectionInfo info, Http2ServerSettings settings, boolean preface) {
        channel.freezeTime();
        server = Http2ServerConnection.create(info, recorder, counts, Pair.wheel(channel), settings);
        channel.pipeline().addLast(server);
        if (preface) {
            send(Frames.preface(), Frames.frame(Frames.SETTINGS, Frames.ACK, 0));
        }
    }

    Pair.Exchange request(int i) {
        return recorder.requests.get(i);
    }

    /** Sends frames in one read. */
    void send(ByteBuf... frames) {
        channel.writeInbound(Buffers.join(frames));
        collect();
    }

    void send(int type, int flags, int stream, byte... payload) {
        send(Frames.frame(type, flags, stream, payload));
    }

    void collect() {
        channel.runPendingTasks();
        for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            unread.writeBytes(out);
            out.release();
        }
        received.addAll(Frames.read(unread));
        unread.discardReadBytes();
    }

    void advance(long millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        collect();
    }

    List<Frame> all(int type, int stream) {
        return received.stream()
                .filter(frame -> frame.type() == type && frame.stream() == stream)
                .toList();
    }

    @Nullable
    Frame first(int type, int stream) {
        List<Frame> found = all(type, stream);
        return found.isEmpty() ? null : found.get(0);
    }

    /** Returns the code of the RST_STREAM that the stream got. */
    int reset(int stream) {
        return Objects.requireNonNull(first(Frames.RST_STREAM, stream), "no RST_STREAM")
                .number(0);
    }

    /** Returns the code of the GOAWAY. */
    int goAway() {
        return Objects.requireNonNull(first(Frames.GOAWAY, 0), "no GOAWAY").number(4);
    }

    @Override
    public void close() {
        channel.finishAndReleaseAll();
    }
}
