package dev.gateway.net;

import dev.gateway.overload.memory.DirectMemory;
import io.netty.channel.Channel;
import java.util.function.BooleanSupplier;

/**
 * Backpressure towards the peer of a byte-stream connection: counts bytes received and not yet consumed, and reads on
 * only while they are few. The only class that touches {@code autoRead}. Confined to the channel's event loop.
 *
 * <p>A connection that carries one stream after another calls {@link #reset} between them, so that bytes the last one
 * never consumed do not starve the next.
 */
public final class ReadCredit {
    /** Bytes received and not consumed at which reading stops, while memory is ample. */
    public static final int HIGH = 256 * 1024;

    /** The same otherwise: about as soon as the consumer has no room. */
    static final int SCANT = 16 * 1024;

    /**
     * What a piece of data costs beyond its bytes. A byte that came by itself, or as a chunk by itself, holds a read
     * buffer and some objects: counted by bytes alone, a peer that sends such would be let hold hundreds of megabytes.
     */
    private static final int PIECE = 1024;

    private final Channel channel;
    private final BooleanSupplier ample;
    private long owed;
    private long overhead; // of the pieces owed
    private long resumeAt; // what may be owed when an exhausted credit allows reading again
    private boolean exhausted;
    private boolean held;
    private boolean suspended;

    /** Makes the credit of a channel that reads by itself. */
    public ReadCredit(Channel channel) {
        this(channel, DirectMemory::isAmple);
    }

    ReadCredit(Channel channel, BooleanSupplier ample) {
        this.channel = channel;
        this.ample = ample;
    }

    /** Bytes were handed on; the consumer answers by {@link #consumed}. */
    public void received(int bytes) {
        owed += bytes;
        overhead += PIECE;
        long held = owed + overhead;
        if (!exhausted && held >= SCANT && (held >= HIGH || isShort())) {
            exhausted = true;
            resumeAt = (held >= HIGH ? HIGH : SCANT) / 2;
            update();
        }
    }

    private boolean isShort() {
        if (ample.getAsBoolean()) {
            return false;
        }
        DirectMemory.onPause();
        return true;
    }

    /** Bytes received have been passed on. */
    public void consumed(int bytes) {
        // Which pieces these bytes were is not known, so their share is taken off.
        overhead = bytes >= owed ? 0 : overhead - overhead * bytes / owed;
        owed = Math.max(0, owed - bytes);
        if (exhausted && owed + overhead <= resumeAt) {
            exhausted = false;
            update();
        }
    }

    /** Forgets what is owed: its stream has ended. */
    public void reset() {
        owed = 0;
        overhead = 0;
        if (exhausted) {
            exhausted = false;
            update();
        }
    }

    /** Stops reading whatever the credit, until {@link #release}. Calling it again does nothing. */
    public void hold() {
        if (!held) {
            held = true;
            update();
        }
    }

    /** Undoes {@link #hold}. */
    public void release() {
        if (held) {
            held = false;
            update();
        }
    }

    /** Stops reading, whatever the credit, until it is allowed again. */
    public void suspend(boolean wanted) {
        if (suspended != wanted) {
            suspended = wanted;
            update();
        }
    }

    /** Whether the channel does not read now, so that silence is not the peer's. */
    public boolean isPaused() {
        return exhausted || held || suspended;
    }

    private void update() {
        channel.config().setAutoRead(!exhausted && !held && !suspended);
    }
}
