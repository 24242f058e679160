package dev.gateway.net.tls;

import dev.gateway.net.transport.ReceiveRing;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.uring.IoUringChannelOption;

/**
 * Copies small reads, ahead of a handler that keeps what it reads until it has all of a record: else a record that comes
 * byte by byte would keep a whole buffer of the loop for each byte. Has no state; what it is given is its own.
 */
@ChannelHandler.Sharable
final class SmallReadCopier extends ChannelInboundHandlerAdapter {
    /** So 16 KiB, the longest record, keep 32 buffers at most. */
    static final int SMALL = 512;

    private static final SmallReadCopier COPIED = new SmallReadCopier();

    private SmallReadCopier() {}

    /** Adds this to the end of a connection's pipeline, if it reads into buffers that it shares with others. */
    static void copy(ChannelPipeline pipeline) {
        // Asked of the connection itself: on other transports nothing of io_uring is to be loaded.
        Short group = pipeline.channel().config().getOption(IoUringChannelOption.IO_URING_BUFFER_GROUP_ID);
        if (group != null && group == ReceiveRing.GROUP) {
            pipeline.addLast(COPIED);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf data = (ByteBuf) message;
        ctx.fireChannelRead(data.readableBytes() <= SMALL ? copied(ctx, data) : data);
    }

    private static ByteBuf copied(ChannelHandlerContext ctx, ByteBuf data) {
        try {
            return ctx.alloc().buffer(data.readableBytes()).writeBytes(data);
        } finally {
            data.release();
        }
    }
}
