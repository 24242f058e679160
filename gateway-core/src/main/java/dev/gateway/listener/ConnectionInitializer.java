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
    private final Map<EventLoop, Door> doors; // not changed once this is made

    ConnectionInitializer(Map<EventLoop, Door> doors) {
        this.doors = doors;
    }

    /** Returns the door of an event loop. */
    Door door(EventLoop loop) {
        Door door = doors.get(loop);
        if (door == null) {
            throw new IllegalStateException("a connection on an event loop that is not this listener's");
        }
        return door;
    }

    @Override
    protected void initChannel(Channel channel) {
        LoopConnections owner = door(channel.eventLoop()).owner;
        ByteCounter counter = new ByteCounter(owner.loop.observer(), owner.loop.timers());
        Connection connection = new Connection(channel, owner, counter);
        if (!owner.add(connection)) {
            channel.close();
            return;
        }
        channel.closeFuture().addListener(closed -> owner.remove(connection));
        channel.pipeline().addLast(counter);
        connection.start();
    }
}
