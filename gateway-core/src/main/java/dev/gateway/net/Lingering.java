package dev.gateway.net;

import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;

/**
 * Lingering close. The end of a connection whose peer may still be sending: FIN follows what was written, and what still
 * comes is read and dropped for a while. To close with bytes unread would send a TCP reset, which destroys what the peer
 * has not read yet. Of one channel, confined to its event loop.
 */
public final class Lingering extends Timer {
    private static final long MILLIS = 2_000;
    private static final long MAX_BYTES = 16L << 20;

    private final Channel channel;
    private final TimerWheel timers;
    private long dropped;

    /** Makes it for a channel that is about to end. */
    public Lingering(Channel channel, TimerWheel timers) {
        this.channel = channel;
        this.timers = timers;
    }

    /**
     * Closes the channel when its peer has had the time to read what was sent. Closing it earlier cancels this.
     *
     * @param sent done when FIN has followed what was written
     */
    public void begin(ChannelFuture sent) {
        sent.addListener(done -> {
            if (channel.isActive()) {
                timers.arm(this, MILLIS);
            }
        });
    }

    /** So many bytes have come, and were dropped. */
    public void onDropped(int bytes) {
        dropped += bytes;
        if (dropped > MAX_BYTES) {
            channel.close();
        }
    }

    @Override
    protected void onExpired() {
        channel.close();
    }
}
