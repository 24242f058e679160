package dev.gateway.listener;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts and logs connections that could not be accepted, as when there are no file descriptors left. Stands behind
 * Netty's acceptor, which then stops accepting for a second.
 */
final class AcceptErrors extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(AcceptErrors.class);

    private final Door door;

    AcceptErrors(Door door) {
        this.door = door;
    }

    @Override
    @SuppressWarnings("deprecation") // of exceptionCaught in ChannelHandler, not in ChannelInboundHandler
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ListenerLoop loop = door.owner.loop;
        loop.observer().onSocketError();
        log.warn(
                "listener {} could not accept a connection, and pauses for a second: {}",
                door.owner.terms().settings.name(),
                cause.toString());
    }
}
