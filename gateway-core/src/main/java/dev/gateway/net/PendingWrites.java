package dev.gateway.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;

/** Outbound buffer: what was written to a channel and the kernel has not taken yet. */
public final class PendingWrites {
    private PendingWrites() {}

    /**
     * Returns how much memory it has, by {@link WaitingSizes}, with what Netty adds for each buffer; 0 once the channel is
     * closed. On its event loop.
     */
    public static long bytes(Channel channel) {
        ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
        return waiting == null ? 0 : waiting.totalPendingWriteBytes();
    }
}
