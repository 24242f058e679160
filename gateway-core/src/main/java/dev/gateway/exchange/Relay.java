package dev.gateway.exchange;

import dev.gateway.message.Fields;
import dev.gateway.stream.Stream;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * One direction of an exchange. The one rule of backpressure: bytes handed to the sink are owed to the source as credit,
 * which it gets while the sink is writable. A credit ends with its stream.
 */
final class Relay {
    private @Nullable Stream source;
    private @Nullable Stream sink;
    private int owed; // bounded by what the source sends without credit
    private boolean unflushed;
    private final StalledBody.Owner owner;
    private final ExchangeState state;
    private @Nullable StalledBody waiting; // made when the sink had no room for the first time

    Relay(StalledBody.Owner owner, ExchangeState state) {
        this.owner = owner;
        this.state = state;
    }

    /** Begins, or begins again with the stream of another attempt. */
    void join(Stream source, Stream sink) {
        this.source = source;
        this.sink = sink;
        owed = 0;
        unflushed = false;
    }

    /** Passes on what the same source sends to the sink of another attempt; what the source is owed stays so. */
    void pass(Stream source, Stream sink) {
        this.source = source;
        this.sink = sink;
        unflushed = false;
    }

    /** Passes bytes on; owns the buffer. */
    void data(ByteBuf data, boolean last) {
        if (sink == null) {
            data.release();
            return;
        }
        owed += data.readableBytes();
        unflushed = true;
        sink.data(data, last);
        credit();
    }

    /** The source's bytes were dropped instead of passed on: they are owed all the same. */
    void skip(int bytes) {
        owed += bytes;
        credit();
    }

    /** Sends bytes for which nobody is owed anything more; owns the buffer. */
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

    /** Something was written to the sink past this relay. */
    void wrote() {
        unflushed = true;
    }

    /** Grants what is owed if the sink has room; to be called when it has room again. */
    void credit() {
        if (owed == 0 || source == null || sink == null) {
            return;
        }
        if (!sink.isWritable()) {
            stall();
            return;
        }
        if (waiting != null) {
            waiting.resume();
        }
        int granted = owed;
        owed = 0;
        source.consumed(granted);
    }

    private void stall() {
        if (state.isDone()) {
            return; // what it has handed over is the sink's alone
        }
        StalledBody made = waiting;
        if (made == null) {
            made = new StalledBody(owner, () -> owed, "direct memory ran low, and what was sent was not taken");
            waiting = made;
        }
        made.stall();
    }

    /** Nothing more is passed on. */
    void end() {
        if (waiting != null) {
            waiting.resume();
        }
    }

    /** Whether the sink has not taken what it was given. That it has no room need not be for what is sent here. */
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
