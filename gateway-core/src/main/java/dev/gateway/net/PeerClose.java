package dev.gateway.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.channel.uring.IoUringTcpInfo;
import org.jspecify.annotations.Nullable;

/**
 * Dead peer detection. Asks the kernel whether a connection's peer has closed or reset it, of which the event loop may not
 * have heard: it may be handling what came before. Costs a system call. Used by one event loop.
 */
public final class PeerClose {
    private static final int ESTABLISHED = 1; // as in linux/tcp.h

    private @Nullable EpollTcpInfo epoll; // made when there is something to ask
    private @Nullable IoUringTcpInfo ring;

    /** Whether the peer's FIN or reset has come; false if that cannot be told. */
    public boolean hasCome(Channel channel) {
        try {
            if (channel instanceof EpollSocketChannel socket) {
                epoll = socket.tcpInfo(epoll == null ? new EpollTcpInfo() : epoll);
                return epoll.state() != ESTABLISHED;
            }
            if (channel instanceof IoUringSocketChannel socket) {
                ring = socket.tcpInfo(ring == null ? new IoUringTcpInfo() : ring);
                return ring.state() != ESTABLISHED;
            }
            return false;
        } catch (ChannelException e) {
            return true; // the socket is closed
        }
    }
}
