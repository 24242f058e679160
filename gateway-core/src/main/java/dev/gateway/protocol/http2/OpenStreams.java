package dev.gateway.protocol.http2;

import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Our stream for each of Netty's on one connection, kept as a property of that. */
final class OpenStreams {
    private final Http2Connection connection;
    private final Http2Connection.PropertyKey key;

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
}
