package dev.gateway.listener;

import dev.gateway.net.ByteCounter;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import java.util.Map;

/** Takes in each accepted connection on its event loop, or closes it if there are too many. */
@ChannelHandler.Sharable
final class ConnectionInitializer extends ChannelInitializer<Channel> {
    private final Map<EventLoop, LoopConnections> loops; // not changed once this is made

    ConnectionInitializer(Map<EventLoop, LoopConnections> loops) {
        this.loops = loops;
    }

    @Override
    protected void initChannel(Channel channel) {
        LoopConnections owner = loops.get(channel.eventLoop());
        if (owner == null) {
            throw new IllegalStateException("a connection on an event loop that is not this listener's");
        }
        Connection connection = new Connection(channel, owner);
        if (!owner.add(connection)) {
            channel.close();
            return;
        }
        channel.closeFuture().addListener(closed -> owner.remove(connection));
        channel.pipeline().addLast(new ByteCounter(owner.loop.observer()));
        connection.start();
    }
}
