package dev.gateway.demo;

import io.netty.channel.ChannelHandlerContext;

/** Reads a connection one message at a time, the next not before there is room to answer it. Part of its handler. */
final class ReadPacing {
    private boolean reading; // a read is pending
    private boolean readWhenWritable;

    /** Asks for the next message. */
    void read(ChannelHandlerContext ctx) {
        reading = true;
        ctx.read();
    }

    /** Asks for the next message as soon as what was written leaves room. */
    void readWhenWritable(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            read(ctx);
        } else {
            readWhenWritable = true;
        }
    }

    /** A message has come. */
    void onRead() {
        reading = false;
    }

    void onReadComplete(ChannelHandlerContext ctx) {
        if (reading) {
            ctx.read(); // FlowControlHandler forgets what was asked for when a read of the socket completes
        }
    }

    /** Returns whether a read waited for that; if so, it begins now. */
    boolean onWritabilityChanged(ChannelHandlerContext ctx) {
        if (!readWhenWritable || !ctx.channel().isWritable()) {
            return false;
        }
        readWhenWritable = false;
        read(ctx);
        return true;
    }
}
