package dev.gateway.exchange;

import dev.gateway.exchange.body.BodyContext;
import dev.gateway.exchange.body.StalledBody;
import dev.gateway.message.Fields;
import dev.gateway.stream.Stream;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * One direction of an exchange. The rule of backpressure: the source gets credit for the bytes that went to the sink, as
 * soon as the sink is writable. Credit ends with its stream. What waits in the sink is charged, whether the sink has room or
 * not.
 */
final class Relay {
    private @Nullable Stream source;
    private @Nullable Stream sink;
    private int owed; // credit that the source has not got yet; bounded by what it may send without credit
    private boolean unflushed;
    private long held; // bytes of memory that wait in the sink, or 0 if they are few
    private boolean lingers; // they wait although the sink has room
    private final BodyContext exchange;
    private final @Nullable Kept kept; // null if nobody keeps what was sent
    private @Nullable StalledBody waiting; // made when something waits in the sink for the first time

    /** Who keeps what was sent, in the same buffers, and is charged for them. */
    interface Kept {
        /**
         * Returns how much of the memory that waits in the sink is charged already.
         *
         * @param waiting bytes of memory, those that were sent last
         */
        long shared(long waiting);
    }

    /** Makes one for a response, which relays nothing yet. */
    static Relay ofResponse(BodyContext exchange) {
        return new Relay(exchange, null);
    }

    /** Makes one for a request, which relays nothing yet. */
    static Relay ofRequest(BodyContext exchange, Kept kept) {
        return new Relay(exchange, kept);
    }

    private Relay(BodyContext exchange, @Nullable Kept kept) {
        this.exchange = exchange;
        this.kept = kept;
    }

    /** Begins, or begins again with the stream of another attempt. */
    void join(Stream source, Stream sink) {
        resume(); // the former sink has let go of what it held
        this.source = source;
        this.sink = sink;
        owed = 0;
        unflushed = false;
    }

    /** Continues with the same source and the sink of another attempt; the source keeps its claim to credit. */
    void pass(Stream source, Stream sink) {
        resume();
        this.source = source;
        this.sink = sink;
        unflushed = false;
    }

    /** Passes bytes on; owns the buffer. */
    void data(ByteBuf data, boolean last) {
        data(data, last, data.readableBytes());
    }

    /**
     * Passes on a piece that replaces bytes of the source; owns the buffer.
     *
     * @param from number of bytes that it replaces, for which the source gets credit
     */
    void data(ByteBuf data, boolean last, int from) {
        if (sink == null) {
            data.release();
            return;
        }
        owed += from;
        unflushed = true;
        sink.data(data, last);
        credit();
    }

    /** Bytes of the source were dropped instead of relayed. The source gets credit for them, too. */
    void skip(int bytes) {
        owed += bytes;
        credit();
    }

    /** Sends bytes that need no credit; owns the buffer. */
    void insert(ByteBuf data, boolean last) {
        if (sink == null) {
            data.release();
        } else {
            unflushed = true;
            sink.data(data, last);
        }
    }

    void trailers(Fields trailers) {
        if (sink != null) {
            unflushed = true;
            sink.trailers(trailers);
        }
    }

    /** Something was written to the sink directly, and needs a flush. */
    void wrote() {
        unflushed = true;
    }

    /**
     * Gives the source its credit if the sink has room, and charges what waits there. Call it when the sink has room again, or
     * has sent all.
     */
    void credit() {
        Stream to = sink;
        if (source == null || to == null) {
            return;
        }
        if (owed > 0 && !to.isWritable()) {
            hold(to.unsent(), false);
            return;
        }
        if (!unflushed) {
            chargeRest(to);
        } else if (!lingers) {
            resume();
        }
        if (owed > 0) {
            int granted = owed;
            owed = 0;
            source.consumed(granted);
        }
    }

    private void settle(Stream to) {
        if (owed == 0) {
            chargeRest(to);
        } else if (!to.isWritable()) {
            hold(to.unsent(), false);
        }
    }

    /** Charges what waits in the sink although it has room. */
    private void chargeRest(Stream to) {
        long left = to.lingering();
        if (to != sink) {
            return; // another attempt has begun meanwhile
        }
        if (left > 0) {
            hold(left, true);
        } else {
            resume();
        }
    }

    /** Charges what waits in the sink, as its peer does not take it. */
    private void hold(long bytes, boolean hasRoom) {
        if (exchange.isDone()) {
            return;
        }
        StalledBody made = waiting;
        if (made == null) {
            made = new StalledBody(
                    exchange, () -> Math.max(owed, held), "memory ran low, and what was sent was not taken");
            waiting = made;
        }
        held = bytes;
        lingers = hasRoom;
        made.stall();
        made.charge(uncharged());
    }

    private long uncharged() {
        boolean copies = sink == null || sink.copies();
        return kept == null || copies ? held : held - kept.shared(held);
    }

    /** Who keeps what was sent has let go of it. */
    void onForgotten() {
        if (held > 0 && waiting != null) {
            waiting.charge(uncharged());
        }
    }

    private void resume() {
        held = 0;
        lingers = false;
        if (waiting != null) {
            waiting.resume();
            waiting.charge(0);
        }
    }

    /** Ends the relay. */
    void end() {
        resume();
    }

    /** Whether the sink exists and has room. */
    boolean hasRoom() {
        return sink != null && sink.isWritable();
    }

    /** Whether the sink has not taken all bytes of this relay. It may lack room because of other streams. */
    boolean isStalled() {
        return owed > 0;
    }

    /** Whether bytes wait for the peer of the sink, whether or not it has room for more. */
    boolean isAwaitingPeer() {
        return owed > 0 || held > 0;
    }

    void flush() {
        if (unflushed && sink != null) {
            unflushed = false;
            sink.flush();
            if (sink != null && !unflushed) { // it may have begun another attempt
                settle(sink);
            }
        }
    }
}
