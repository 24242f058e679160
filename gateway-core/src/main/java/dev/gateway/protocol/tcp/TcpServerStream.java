package dev.gateway.protocol.tcp;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ByteStreamHalf;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.ByteBuf;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection as the tunnel that it asks for by being made. An answer but success has no words here: the
 * connection is refused. Made by, and part of, the server connection; stands between it and the exchange, which may answer
 * before it can be told anything.
 */
final class TcpServerStream implements ServerStream, StreamEvents {
    private final IntConsumer refuse;
    private final ConnectionInfo info;
    private @Nullable ByteStreamHalf half;
    private @Nullable StreamEvents events;
    private @Nullable Failure early; // what became of the connection before anybody was to be told
    private boolean opened;
    private boolean refused;

    /**
     * Makes it.
     *
     * @param refuse there is no tunnel, but an answer with this status: the client is told by what it understands
     */
    TcpServerStream(IntConsumer refuse, ConnectionInfo info) {
        this.refuse = refuse;
        this.info = info;
    }

    void over(ByteStreamHalf made) {
        half = made;
    }

    /** From here on somebody is told what the client does. */
    void events(StreamEvents told) {
        events = told;
        if (early != null) {
            told.onReset(early);
        }
    }

    boolean isRefused() {
        return refused;
    }

    // What the exchange does.

    @Override
    public ConnectionInfo connection() {
        return info;
    }

    @Override
    public void head(ResponseHead head, boolean last) {
        if (opened || refused || head.isInterim()) {
            return;
        }
        if (head.status() < 300 && !last) {
            opened = true;
        } else {
            refused = true;
            refuse.accept(head.status());
        }
    }

    @Override
    public void data(ByteBuf data, boolean last) {
        if (opened && half != null) {
            half.data(data, last);
        } else {
            data.release(); // of a refusal
        }
    }

    @Override
    public void trailers(Fields trailers) {
        if (opened && half != null) {
            half.trailers(trailers);
        }
    }

    @Override
    public void flush() {
        if (half != null) {
            half.flush();
        }
    }

    @Override
    public boolean isWritable() {
        return half == null || half.isWritable();
    }

    @Override
    public long unsent() {
        return half == null ? 0 : half.unsent();
    }

    @Override
    public void consumed(int bytes) {
        if (half != null) {
            half.consumed(bytes);
        }
    }

    @Override
    public void reset(Failure failure) {
        if (half != null) {
            half.reset(failure);
        }
    }

    // What the client does.

    @Override
    public void onData(ByteBuf data, boolean last) {
        if (events == null || refused) {
            data.release();
        } else {
            events.onData(data, last);
        }
    }

    @Override
    public void onTrailers(Fields trailers) {}

    @Override
    public void onWritable() {
        if (events != null && !refused) {
            events.onWritable();
        }
    }

    @Override
    public void onReadComplete() {
        if (events != null && !refused) {
            events.onReadComplete();
        }
    }

    @Override
    public void onDraining() {
        if (events != null && !refused) {
            events.onDraining();
        }
    }

    @Override
    public void onReset(Failure failure) {
        if (events == null) {
            early = failure;
        } else if (!refused) {
            events.onReset(failure);
        }
    }
}
