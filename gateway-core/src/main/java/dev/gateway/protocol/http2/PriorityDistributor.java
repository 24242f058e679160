package dev.gateway.protocol.http2;

import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.StreamByteDistributor;
import java.util.Comparator;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Shares what a connection may send among its streams: the most urgent first, by {@link UrgencyLevel}. So that nothing starves,
 * a chunk for each {@link #PATIENCE} bytes goes to the stream that has waited longest, whatever its urgency. Netty's flow
 * controller calls it on the event loop; no call costs more than the logarithm of the number of streams.
 */
final class PriorityDistributor implements StreamByteDistributor {
    static final int CHUNK = 16 * 1024;
    static final int PATIENCE = 256 * 1024;

    private final Http2Connection.PropertyKey key;
    private final @Nullable UrgencyLevel[] levels = new @Nullable UrgencyLevel[Priority.URGENCIES];
    private final Ring<StreamEntry> waiting = new Ring<>(); // all that are in a level, longest first
    private final Ring<StreamEntry> costless = new Ring<>(); // with frames that need no window: the ends of bodies
    private int ready; // a bit for each level that is not empty
    private int passedOver; // bytes sent since the one that has waited longest got some
    private long streamable;

    PriorityDistributor(Http2Connection connection) {
        this.key = connection.newKey();
        connection.addListener(new Http2ConnectionAdapter() {
            @Override
            public void onStreamAdded(Http2Stream stream) {
                stream.setProperty(key, new StreamEntry(stream));
            }

            @Override
            public void onStreamClosed(Http2Stream stream) {
                StreamEntry share = share(stream);
                if (share != null) {
                    update(share, 0, false);
                }
            }
        });
    }

    /** Returns null for the connection as a whole, which has nothing to send by itself. */
    private @Nullable StreamEntry share(Http2Stream stream) {
        return stream.getProperty(key);
    }

    /** Changes a stream's priority. */
    void prioritise(Http2Stream stream, int urgency, boolean takesTurns) {
        StreamEntry share = share(stream);
        if (share == null) {
            return;
        }
        boolean queued = share.queued && share.streamable > 0;
        if (queued) {
            leave(share);
        }
        share.urgency = urgency;
        share.takesTurns = takesTurns;
        if (queued) {
            enter(share);
        }
    }

    @Override
    public void updateDependencyTree(int childStreamId, int parentStreamId, short weight, boolean exclusive) {
        // RFC 9113 has done away with these priorities; a tree of them would only be something to flood.
    }

    @Override
    public void updateStreamableBytes(StreamState state) {
        StreamEntry share = share(state.stream());
        if (share == null) {
            return;
        }
        int windowSize = state.windowSize();
        // Who was just asked to write and has an empty window has nothing that could be written without one.
        boolean able = state.hasFrame() && (windowSize > 0 || (windowSize == 0 && !share.writing));
        update(share, Http2CodecUtil.streamableBytes(state), able);
    }

    private void update(StreamEntry share, int bytes, boolean able) {
        streamable += bytes - share.streamable;
        boolean moves = share.queued && (!able || bytes > 0 != share.streamable > 0);
        if (moves) {
            leave(share);
        }
        share.streamable = bytes;
        if (able && !share.queued) {
            enter(share);
        }
    }

    private void enter(StreamEntry share) {
        share.queued = true;
        if (share.streamable == 0) {
            costless.add(share.wait);
            return;
        }
        UrgencyLevel level = levels[share.urgency];
        if (level == null) {
            level = new UrgencyLevel();
            levels[share.urgency] = level;
        }
        level.add(share);
        waiting.add(share.wait);
        ready |= 1 << share.urgency;
    }

    private void leave(StreamEntry share) {
        share.queued = false;
        share.wait.leave();
        UrgencyLevel level = levels[share.urgency];
        if (share.streamable > 0 && level != null) {
            level.remove(share);
            if (level.isEmpty()) {
                ready &= ~(1 << share.urgency);
            }
        }
    }

    @Override
    public boolean distribute(int maxBytes, Writer writer) throws Http2Exception {
        int left = maxBytes;
        for (StreamEntry share = costless.first(); share != null; share = costless.first()) {
            write(share, 0, writer);
        }
        for (StreamEntry share = next(left); share != null; share = next(left)) {
            boolean alone = waiting.first() == share && share.wait.isLast();
            int bytes = Math.min(share.streamable, alone ? left : Math.min(left, CHUNK));
            left -= bytes;
            passedOver = waiting.first() == share ? 0 : passedOver + bytes;
            write(share, bytes, writer);
        }
        return streamable > 0;
    }

    private @Nullable StreamEntry next(int left) {
        if (left <= 0 || ready == 0) {
            return null;
        }
        UrgencyLevel level = levels[Integer.numberOfTrailingZeros(ready)];
        return passedOver >= PATIENCE || level == null ? waiting.first() : level.next();
    }

    private void write(StreamEntry share, int bytes, Writer writer) throws Http2Exception {
        leave(share);
        share.writing = true;
        try {
            writer.write(share.stream, bytes); // and an update follows, by which it comes to stand last
        } catch (RuntimeException e) {
            throw Http2Exception.connectionError(Http2Error.INTERNAL_ERROR, e, "cannot write a stream's share");
        } finally {
            share.writing = false;
        }
    }

    /**
     * The entry of a stream in the queue for sending: what it has to send, and its place among those of its connection that have
     * something.
     */
    private static final class StreamEntry {
        final Http2Stream stream;
        final Ring.Link<StreamEntry> turn = new Ring.Link<>(this); // among those of its urgency that take turns
        final Ring.Link<StreamEntry> wait = new Ring.Link<>(this); // among all
        int urgency = Priority.DEFAULT_URGENCY;
        boolean takesTurns = true;
        int streamable; // bytes that wait and that its window has room for
        boolean queued;
        boolean writing;

        StreamEntry(Http2Stream stream) {
            this.stream = stream;
        }

        int id() {
            return stream.id();
        }
    }

    /**
     * An urgency level (RFC 9218, section 10): its streams that have bytes to send. Those of use only when complete go one after
     * another, in the order of their requests; the others take turns. Where there are both, the two kinds alternate.
     */
    private static final class UrgencyLevel {
        private final Ring<StreamEntry> turns = new Ring<>();
        private @Nullable TreeSet<StreamEntry> sequence; // null until there is one
        private boolean turnsNext;

        void add(StreamEntry share) {
            if (share.takesTurns) {
                turns.add(share.turn);
            } else {
                if (sequence == null) {
                    sequence = new TreeSet<>(Comparator.comparingInt(StreamEntry::id));
                }
                sequence.add(share);
            }
        }

        void remove(StreamEntry share) {
            if (share.takesTurns) {
                share.turn.leave();
            } else if (sequence != null) {
                sequence.remove(share);
            }
        }

        /** Returns whose turn it is, or null; it stays here. */
        @Nullable
        StreamEntry next() {
            StreamEntry first = turns.first();
            if (sequence == null || sequence.isEmpty()) {
                return first;
            }
            turnsNext = !turnsNext;
            return first != null && turnsNext ? first : sequence.first();
        }

        boolean isEmpty() {
            return turns.isEmpty() && (sequence == null || sequence.isEmpty());
        }
    }
}
