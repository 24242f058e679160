package dev.gateway.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.channel.uring.IoUringTcpInfo;
import org.jspecify.annotations.Nullable;

/**
 * TCP acknowledgements: what the kernel knows of whether a connection's peer takes what is sent to it (TCP_INFO). The peer's
 * kernel acknowledges for a process that hangs; a machine that is gone acknowledges nothing.
 *
 * @param unacked whether bytes were sent that the peer has not acknowledged yet
 * @param unackedProbes whether so were probes: keep-alive probes, or those of a closed window
 * @param lastMillis how long ago the last acknowledgement of anything came
 */
public record PeerAcks(boolean unacked, boolean unackedProbes, long lastMillis) {
    private static final int PROBE_SECONDS = 5;

    /** The most that Linux takes. Nobody lets so many be sent. */
    private static final int MOST_PROBES = 127;

    /** Asks the kernel, by a system call; null if the transport cannot tell, or the connection does not use TCP. */
    public static @Nullable PeerAcks read(Channel channel) {
        try {
            if (channel instanceof EpollSocketChannel socket) {
                EpollTcpInfo info = socket.tcpInfo();
                return new PeerAcks(info.unacked() > 0, info.probes() > 0, info.lastAckRecv());
            }
            if (channel instanceof IoUringSocketChannel socket) {
                IoUringTcpInfo info = socket.tcpInfo();
                return new PeerAcks(info.unacked() > 0, info.probes() > 0, info.lastAckRecv());
            }
        } catch (ChannelException e) {
            return null; // the socket is closed, and its event loop will hear of that
        }
        return null;
    }

    /**
     * Whether the peer takes what is sent, and has not got all of it yet: what was written last may still wait here.
     *
     * @param waitingBytes what the kernel has not taken yet
     * @param millis how lately the peer must have acknowledged something
     */
    public boolean isDelivering(long waitingBytes, long millis) {
        return lastMillis < millis && (unacked || waitingBytes > 0);
    }

    /**
     * Has the kernel probe a peer that has acknowledged everything, every few seconds, or ends that. The caller must end it
     * once the peer acknowledges nothing any more: else the kernel ends the connection after ten minutes.
     */
    public static void probe(Channel channel, boolean on) {
        try {
            if (on && channel instanceof EpollSocketChannel) {
                channel.config().setOption(EpollChannelOption.TCP_KEEPIDLE, PROBE_SECONDS);
                channel.config().setOption(EpollChannelOption.TCP_KEEPINTVL, PROBE_SECONDS);
                channel.config().setOption(EpollChannelOption.TCP_KEEPCNT, MOST_PROBES);
            } else if (on && channel instanceof IoUringSocketChannel) {
                channel.config().setOption(IoUringChannelOption.TCP_KEEPIDLE, PROBE_SECONDS);
                channel.config().setOption(IoUringChannelOption.TCP_KEEPINTVL, PROBE_SECONDS);
                channel.config().setOption(IoUringChannelOption.TCP_KEEPCNT, MOST_PROBES);
            }
            if (channel.isOpen()) {
                channel.config().setOption(ChannelOption.SO_KEEPALIVE, on);
            }
        } catch (ChannelException e) {
            // the socket is closed, and its event loop will hear of that
        }
    }
}
