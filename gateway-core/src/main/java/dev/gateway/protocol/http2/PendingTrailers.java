package dev.gateway.protocol.http2;

import dev.gateway.message.Fields;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2RemoteFlowController.FlowControlled;

/** Trailers that wait behind body bytes: no window is needed for them, but their turn is. */
final class PendingTrailers implements FlowControlled {
    /** The stream whose trailers they are. */
    interface Owner {
        /** Writes them, which ends the message. */
        void writeTrailers(Fields trailers);
    }

    private final Owner stream;
    private final Fields trailers;

    PendingTrailers(Owner stream, Fields trailers) {
        this.stream = stream;
        this.trailers = trailers;
    }

    @Override
    public int size() {
        return 0;
    }

    @Override
    public void write(ChannelHandlerContext ctx, int allowedBytes) {
        stream.writeTrailers(trailers);
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
