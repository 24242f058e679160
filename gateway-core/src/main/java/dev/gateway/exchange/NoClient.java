package dev.gateway.exchange;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import io.netty.buffer.ByteBuf;

/**
 * Stands for the client's stream in requests of the gateway's own, so that they keep no connection of a client from being
 * freed. Drops what it gets.
 */
final class NoClient implements ServerStream {
    static final NoClient INSTANCE = new NoClient();

    private NoClient() {}

    @Override
    public void head(ResponseHead head, boolean last) {}

    @Override
    public void data(ByteBuf data, boolean last) {
        data.release();
    }

    @Override
    public void trailers(Fields trailers) {}

    @Override
    public void flush() {}

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public void consumed(int bytes) {}

    @Override
    public void reset(Failure failure) {}

    @Override
    public ConnectionInfo connection() {
        throw new IllegalStateException("a request of the gateway's own has no client");
    }
}
