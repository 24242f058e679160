package dev.gateway.net;

import dev.gateway.overload.AnsweredPeers;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.util.function.BooleanSupplier;

/**
 * Lingering close. A peer has its answer, but may still be sending. What it sends is read and dropped for a while, because
 * many peers read nothing before they have sent everything. To close with bytes unread would send a TCP reset, which
 * destroys what the peer has not read yet. Of one connection or stream, confined to its event loop.
 */
public final class Lingering extends Timer implements AnsweredPeers.Member {
    /** How often to check whether a peer still sends that has seen FIN, so that it waits for nothing. */
    public static final long PATIENT_MILLIS = 5_000;

    /** The same for a peer that may have stopped sending, and waits for the end of a stream, as curl does. */
    public static final long BRISK_MILLIS = 500;

    private static final long MOST_MILLIS = 120_000;

    /** How long it lasts at most once the gateway wants to close soon. */
    private static final long HURRIED_MILLIS = 2_000;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final BooleanSupplier end;
    private final TimerWheel timers;
    private final long checkMillis;
    private final long wanted;
    private long beganNanos;
    private long dropped; // since the last check
    private boolean hurried;

    /**
     * Makes it, before it begins.
     *
     * @param end reads no more; returns whether that closes a connection
     * @param bytesPerSecond how fast the peer must send, 0 if any byte will do
     * @param checkMillis how often to check that
     */
    public Lingering(BooleanSupplier end, TimerWheel timers, long bytesPerSecond, long checkMillis) {
        this.end = end;
        this.timers = timers;
        this.checkMillis = checkMillis;
        this.wanted = Math.max(1, (long) (bytesPerSecond / 1_000.0 * checkMillis));
    }

    /** Begins when what was written has left. */
    public void begin(Channel channel, ChannelFuture sent) {
        sent.addListener(done -> {
            if (channel.isActive()) {
                begin();
            }
        });
    }

    /** Begins, for as long as the peer sends fast enough, and for two minutes at most. {@link #stop} ends it. */
    public void begin() {
        beganNanos = timers.nanoTime();
        dropped = 0;
        AnsweredPeers.ofThisLoop().add(this);
        timers.arm(this, hurried ? HURRIED_MILLIS : checkMillis);
    }

    /** The gateway wants to close soon: ends it in two seconds at the latest. */
    public void hurry() {
        if (isArmed() && !hurried) {
            timers.arm(this, HURRIED_MILLIS);
        }
        hurried = true;
    }

    /** So many bytes have come, and were dropped. */
    public void onDropped(int bytes) {
        dropped += bytes;
    }

    /** Ends it early: the peer sends no more, or its bytes are not read any more. */
    public void stop() {
        cancel();
        AnsweredPeers.ofThisLoop().remove(this);
    }

    @Override
    public boolean giveWay() {
        stop();
        return end.getAsBoolean();
    }

    @Override
    protected void onExpired() {
        long left = MOST_MILLIS - (timers.nanoTime() - beganNanos) / NANOS_PER_MILLI;
        if (hurried || dropped < wanted || left <= 0) {
            giveWay();
        } else {
            dropped = 0;
            timers.arm(this, Math.min(left, checkMillis));
        }
    }
}
