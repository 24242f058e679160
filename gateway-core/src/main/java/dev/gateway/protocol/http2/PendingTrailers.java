package dev.gateway.protocol.http2;

import dev.gateway.message.Fields;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2RemoteFlowController.FlowControlled;
import java.util.function.Consumer;

/** Trailers that wait behind body bytes: no window is needed for them, but their turn is. */
final class PendingTrailers implements FlowControlled {
    private final Consumer<Fields> write;
    private final Fields trailers;

    /**
     * Makes them.
     *
     * @param write writes them, which ends the message
     */
    PendingTrailers(Consumer<Fields> write, Fields trailers) {
        this.write = write;
        this.trailers = trailers;
    }

    @Override
    public int size() {
        return 0;
    }

    @Override
    public void write(ChannelHandlerContext ctx, int allowedBytes) {
        write.accept(trailers);
    }

    @Override
    public void writeComplete() {}

    @Override
    public void error(ChannelHandlerContext ctx, Throwable cause) {
        // The stream closed first; trailers hold nothing to release.
    }

    @Override
    public boolean merge(ChannelHandlerContext ctx, FlowControlled next) {
        return false;
    }
}
