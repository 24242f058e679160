package dev.gateway.protocol.http2;

import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The streams of one connection: ours for each of Netty's, kept as a property of that; those that wait for room, in the order
 * in which they came to wait; and those to which something happened in the batch of frames that is being read.
 */
final class OpenStreams {
    private final Http2Connection connection;
    private final Http2Connection.PropertyKey key;
    private final List<MultiplexedStream> paused = new ArrayList<>();
    private final List<MultiplexedStream> touched = new ArrayList<>();
    private boolean resuming;
    private boolean resumeAgain;

    OpenStreams(Http2Connection connection) {
        this.connection = connection;
        this.key = connection.newKey();
    }

    /** Joins a stream to Netty's. */
    void attach(Http2Stream h2, MultiplexedStream stream) {
        stream.attach(h2);
        h2.setProperty(key, stream);
    }

    /** Returns null if there is none of ours. */
    @Nullable
    MultiplexedStream of(Http2Stream h2) {
        return h2.getProperty(key);
    }

    /** Returns null if there is none of ours. */
    @Nullable
    MultiplexedStream of(int streamId) {
        Http2Stream h2 = connection.stream(streamId);
        return h2 == null ? null : of(h2);
    }

    /** Whether a stream matches. */
    boolean any(Predicate<MultiplexedStream> wanted) {
        return find(wanted) != null;
    }

    /** Returns a stream that matches, null if none does. */
    @Nullable
    MultiplexedStream find(Predicate<MultiplexedStream> wanted) {
        try {
            Http2Stream found = connection.forEachActiveStream(h2 -> {
                MultiplexedStream stream = of(h2);
                return stream == null || !wanted.test(stream);
            });
            return found == null ? null : of(found);
        } catch (Http2Exception e) {
            throw new IllegalStateException(e); // no action throws it
        }
    }

    void forEach(Consumer<MultiplexedStream> action) {
        try {
            connection.forEachActiveStream(h2 -> {
                MultiplexedStream stream = of(h2);
                if (stream != null) {
                    action.accept(stream);
                }
                return true;
            });
        } catch (Http2Exception e) {
            throw new IllegalStateException(e); // no action throws it
        }
    }

    /** A stream was seen not writable. It adds itself each time that it begins to wait. */
    void pause(MultiplexedStream stream) {
        paused.add(stream);
    }

    /** Tells those that may write; what they do may come back to this. */
    void resume() {
        if (paused.isEmpty()) {
            return;
        }
        resumeAgain = true;
        if (resuming) {
            return;
        }
        resuming = true;
        while (resumeAgain) {
            resumeAgain = false;
            for (int i = 0, n = paused.size(), at = 0; i < n; i++) {
                MultiplexedStream stream = paused.get(at);
                if (stream.mayResume()) {
                    paused.remove(at);
                    stream.resume();
                } else {
                    at++;
                }
            }
        }
        resuming = false;
    }

    /** Adds a stream to those that get the end of this batch of frames. It adds itself once in each. */
    void touch(MultiplexedStream stream) {
        touched.add(stream);
    }

    /** What the socket had has been read. Streams join while others are told; ones that closed in this batch are told nothing. */
    void onReadComplete() {
        for (int i = 0; i < touched.size(); i++) {
            touched.get(i).onReadComplete();
        }
        for (int i = 0; i < touched.size(); i++) {
            touched.get(i).afterReadComplete();
        }
        touched.clear();
    }
}
