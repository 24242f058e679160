package dev.gateway.net;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Non-blocking connect: connects sockets, and reports failures on their event loop. If Netty cannot even make the
 * socket, as without file descriptors, it reports on a thread of its own, while the loop continues.
 */
public final class Connecting {
    private Connecting() {}

    /**
     * Connects.
     *
     * @param failed told on the loop, maybe before this returns
     * @return the channel, null if none could be made
     */
    public static @Nullable Channel connect(Bootstrap prepared, EventLoop loop, Consumer<Throwable> failed) {
        ChannelFuture connecting = prepared.connect();
        connecting.addListener(future -> {
            Throwable cause = future.cause();
            if (cause == null) {
                return;
            }
            if (loop.inEventLoop()) {
                failed.accept(cause);
            } else {
                loop.execute(() -> failed.accept(cause));
            }
        });
        Channel channel = connecting.channel();
        return channel.isOpen() ? channel : null; // what stands for one that could not be made cannot even be closed
    }
}
