package dev.gateway.net.tls;

import dev.gateway.overload.memory.Account;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Stands before the TLS handler of a connection to an upstream. Charges the part of a record that waits there for its rest.
 * Many clients may share the connection, so it is charged to none of them, and nothing ends because of it.
 */
public final class UpstreamRecordHandler extends ChannelInboundHandlerAdapter {
    private final Account account;
    private final Records records = new Records();
    private int charged;

    /**
     * Makes it.
     *
     * @param account of all connections to upstreams of the event loop
     */
    public UpstreamRecordHandler(Account account) {
        this.account = account;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        records.read((ByteBuf) message);
        ctx.fireChannelRead(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        charge(records.held());
        ctx.fireChannelReadComplete();
    }

    private void charge(int bytes) {
        if (bytes != charged) {
            account.waitingBodies().change(charged, bytes);
            charged = bytes;
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        charge(0);
    }
}
