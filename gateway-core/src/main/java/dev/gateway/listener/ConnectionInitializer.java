package dev.gateway.listener;

import dev.gateway.net.ByteCounter;
import dev.gateway.overload.memory.Account;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import java.util.Map;

/** Admits each accepted connection on its event loop, or closes it if there are too many. */
@ChannelHandler.Sharable
final class ConnectionInitializer extends ChannelInitializer<Channel> {
    private final Map<EventLoop, AcceptTarget> targets; // the map does not change

    ConnectionInitializer(Map<EventLoop, AcceptTarget> targets) {
        this.targets = targets;
    }

    /** Returns the owner of the connections of an event loop. */
    AcceptTarget target(EventLoop loop) {
        AcceptTarget target = targets.get(loop);
        if (target == null) {
            throw new IllegalStateException("a connection on an event loop that is not this listener's");
        }
        return target;
    }

    @Override
    protected void initChannel(Channel channel) {
        LoopConnections owner = target(channel.eventLoop()).owner;
        Account account = owner.loop().gate().admitConnection();
        if (account == null) {
            owner.loop().observer().onConnectionShed();
            channel.close();
            return;
        }
        ByteCounter counter =
                new ByteCounter(owner.loop().observer(), owner.loop().timers());
        Connection connection = new Connection(channel, owner, owner.settingsRef(), counter, account);
        if (!owner.add(connection)) {
            account.release(account.held());
            channel.close();
            return;
        }
        channel.closeFuture().addListener(closed -> owner.remove(connection));
        channel.pipeline().addLast(counter);
        connection.start();
    }
}
