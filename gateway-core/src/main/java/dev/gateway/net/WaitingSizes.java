package dev.gateway.net;

import dev.gateway.overload.memory.BufferCost;
import io.netty.buffer.ByteBuf;
import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.MessageSizeEstimator;

/**
 * Sizes of what waits in a channel: the memory that each buffer keeps, which may be much more than its bytes. So the water
 * marks of a channel bound memory, and {@link PendingWrites} tells how much it is.
 */
public final class WaitingSizes implements MessageSizeEstimator, MessageSizeEstimator.Handle {
    /** The only one: it has no state. */
    public static final WaitingSizes INSTANCE = new WaitingSizes();

    private static final Handle OTHERS = DefaultMessageSizeEstimator.DEFAULT.newHandle();

    private WaitingSizes() {}

    @Override
    public Handle newHandle() {
        return this;
    }

    @Override
    public int size(Object message) {
        return message instanceof ByteBuf buffer
                ? Math.max(buffer.readableBytes(), BufferCost.kept(buffer))
                : OTHERS.size(message);
    }
}
