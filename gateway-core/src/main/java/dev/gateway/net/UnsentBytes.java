package dev.gateway.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringSocketChannel;

/**
 * Unsent bytes of a socket (TCP_NOTSENT_LOWAT): what the kernel keeps of a connection before it can send it, and nobody can
 * put anything in front of any more.
 */
public final class UnsentBytes {
    /** As much as is written at once, twice: the wire does not run dry while the next is written. */
    static final long LIMIT = 128 * 1024;

    private UnsentBytes() {}

    /** Has a TCP connection take no more than that; by itself the kernel takes megabytes. On the channel's event loop. */
    public static void limit(Channel channel) {
        try {
            if (channel instanceof EpollSocketChannel) {
                channel.config().setOption(EpollChannelOption.TCP_NOTSENT_LOWAT, LIMIT);
            } else if (channel instanceof IoUringSocketChannel) {
                channel.config().setOption(IoUringChannelOption.TCP_NOTSENT_LOWAT, LIMIT);
            }
        } catch (ChannelException e) {
            // The socket is closed; the event that says so is on its way.
        }
    }
}
