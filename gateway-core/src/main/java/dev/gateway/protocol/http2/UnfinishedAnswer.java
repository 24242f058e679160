package dev.gateway.protocol.http2;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.UnfinishedInput;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import org.jspecify.annotations.Nullable;

/**
 * What an upstream has begun and not finished: a part of a frame or of a header block. Charged to the client whose stream it
 * is for. If that stream has ended, another one's client is charged, for the memory is there until the rest comes. Part of
 * the connection, on its event loop.
 */
final class UnfinishedAnswer {
    /** To blame where no stream is left, on whatever connection. */
    private static final Object NOBODY = new Object();

    private final Http2ClientConnection connection;
    private final FrameReader reader;
    private final OpenStreams streams;
    private @Nullable UnfinishedInput input; // null if nothing waits
    private @Nullable MultiplexedStream charged; // whose client is charged, null if none is
    private Account account = Account.UNLIMITED; // of that client

    UnfinishedAnswer(Http2ClientConnection connection, FrameReader reader, OpenStreams streams) {
        this.connection = connection;
        this.reader = reader;
        this.streams = streams;
    }

    /**
     * A batch of frames was read.
     *
     * @param unread what is left of it
     */
    void onRead(ByteBuf unread) {
        UnfinishedInput waiting = input;
        if (waiting == null && !reader.isUnfinished()) {
            return;
        }
        boolean completed = reader.takeCompleted();
        long bytes = (unread.isReadable() ? BufferCost.direct(unread) : 0) + reader.blockBytes();
        if (bytes == 0) {
            release();
            return;
        }
        if (waiting == null || completed) {
            waiting = begin(waiting); // what waits now has not waited before
        }
        boolean room = waiting.hold(bytes);
        // As of a client, a part of DATA ends nothing: it is cut only if memory runs low.
        if (reader.isWithinHeaders()) {
            if (!room) {
                refuse();
            } else if (bytes > UnfinishedInput.SLIGHT && !connection.isWanted()) {
                connection.close(); // an unwanted head
            }
        }
    }

    private UnfinishedInput begin(@Nullable UnfinishedInput before) {
        MultiplexedStream addressed = addressed();
        MultiplexedStream now = addressed != null ? addressed : streams.find(each -> !each.isDead());
        if (before != null && now == charged) {
            before.resume();
            return before;
        }
        release();
        charged = now;
        if (now != null) {
            account = now.account();
            account.join(); // the exchange may end before
        }
        UnfinishedInput made =
                new UnfinishedInput(account, NOBODY, 0, this::cut); // the connection itself is not charged
        input = made;
        return made;
    }

    /** Returns the stream that the frame or header block is for, null if that is unwanted. */
    private @Nullable MultiplexedStream addressed() {
        MultiplexedStream stream = streams.of(reader.lastStream());
        return stream == null || stream.isDead() ? null : stream;
    }

    /** There is no room for a part of a head or of trailers. Only the end of the connection frees it, but others may use that. */
    private void refuse() {
        Object client = account.client();
        if (streams.find(each -> !each.isDead() && each.account().client() != client) == null) {
            connection.end(failure());
            return;
        }
        failAddressed(client);
    }

    /** Memory ran low. Other streams of the connection get nothing either until the rest comes, which may be never. */
    private void cut() {
        failAddressed(account.client());
        connection.close();
    }

    private void failAddressed(@Nullable Object client) {
        MultiplexedStream stream = addressed();
        if (stream != null && stream.account().client() == client) {
            stream.fail(failure());
            stream.end(Http2Error.CANCEL);
        }
    }

    private static Failure failure() {
        return Failure.of(Cause.OVERLOAD, "no memory is left for a part of a response");
    }

    /** Nothing waits any more: the rest has come, or the connection is closed. */
    void release() {
        UnfinishedInput ended = input;
        if (ended != null) {
            input = null;
            ended.release();
            if (charged != null) {
                account.leave();
                account = Account.UNLIMITED;
                charged = null;
            }
        }
    }
}
