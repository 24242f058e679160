package dev.gateway.exchange;

import dev.gateway.message.Fields;
import dev.gateway.stream.Stream;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * One direction of an exchange. The rule of backpressure: the source gets credit for the bytes that went to the sink, as
 * soon as the sink is writable. Credit ends with its stream.
 */
final class Relay {
    private @Nullable Stream source;
    private @Nullable Stream sink;
    private int owed; // credit that the source has not got yet; bounded by what it may send without credit
    private boolean unflushed;
    private final StalledBody.Owner owner;
    private final ExchangeState state;
    private final boolean fromUpstream;
    private @Nullable StalledBody waiting; // made when the sink has no room for the first time

    /**
     * Makes one that relays nothing yet.
     *
     * @param fromUpstream whether it is the direction of the response
     */
    Relay(StalledBody.Owner owner, ExchangeState state, boolean fromUpstream) {
        this.owner = owner;
        this.state = state;
        this.fromUpstream = fromUpstream;
    }

    /** Begins, or begins again with the stream of another attempt. */
    void join(Stream source, Stream sink) {
        this.source = source;
        this.sink = sink;
        owed = 0;
        unflushed = false;
    }

    /** Continues with the same source and the sink of another attempt; the source keeps its claim to credit. */
    void pass(Stream source, Stream sink) {
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

    /** Gives the source its credit if the sink has room; call it when the sink has room again. */
    void credit() {
        if (owed == 0 || source == null || sink == null) {
            return;
        }
        if (!sink.isWritable()) {
            stall();
            return;
        }
        resume();
        int granted = owed;
        owed = 0;
        source.consumed(granted);
    }

    private void stall() {
        if (state.isDone()) {
            return; // the sink owns all bytes
        }
        StalledBody made = waiting;
        if (made == null) {
            made = new StalledBody(
                    owner, () -> owed, "memory or connections ran low, and what was sent was not taken", fromUpstream);
            waiting = made;
        }
        made.stall();
        made.charge(sink == null ? 0 : sink.unsent());
    }

    private void resume() {
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

    void flush() {
        if (unflushed && sink != null) {
            unflushed = false;
            sink.flush();
        }
    }
}
