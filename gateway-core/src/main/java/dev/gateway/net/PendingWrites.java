package dev.gateway.net;

import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.Cost;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import org.jspecify.annotations.Nullable;

/** Outbound buffer: what was written to a channel and the kernel has not taken yet. */
public final class PendingWrites {
    /** So many bytes may wait without a charge of their own, as each connection is charged with as much. */
    public static final long SLIGHT = Cost.CONNECTION;

    private PendingWrites() {}

    /**
     * Returns how much memory it has, by {@link WaitingSizes}, with what Netty adds for each buffer; 0 once the channel is
     * closed. On its event loop.
     */
    public static long bytes(Channel channel) {
        ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
        return waiting == null ? 0 : waiting.totalPendingWriteBytes();
    }

    /**
     * Returns how much memory it keeps from being freed. Beyond {@link #bytes}, that is the rest of buffers of which slices
     * wait, such as what the kernel has taken. Others who have slices of the same buffer answer for their part of it. To be
     * asked after a flush and only where bytes wait, as it goes through them.
     */
    public static long memory(Channel channel) {
        ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
        long bytes = waiting == null ? 0 : waiting.totalPendingWriteBytes();
        if (waiting == null || bytes == 0) {
            return 0;
        }
        Rest rest = new Rest();
        try {
            waiting.forEachFlushedMessage(rest);
        } catch (Exception e) {
            throw new IllegalStateException(e); // it throws none
        }
        rest.end();
        return bytes + rest.bytes;
    }

    /** What is left of the buffers of slices. Those of one buffer follow each other, maybe with lines of chunks between them. */
    private static final class Rest implements ChannelOutboundBuffer.MessageProcessor {
        private @Nullable ByteBuf whole;
        private int slices;
        private int counted;
        long bytes;

        @Override
        @SuppressWarnings("ReferenceEquality") // buffers with equal bytes are two
        public boolean processMessage(Object message) {
            if (!(message instanceof ByteBuf slice) || slice.unwrap() == null) {
                return true;
            }
            ByteBuf of = BufferCost.base(slice);
            int kept = BufferCost.kept(slice);
            if (kept < of.capacity()) {
                if (of != whole) {
                    end();
                    whole = of;
                }
                slices++;
                counted += kept;
            }
            return true;
        }

        /** No slice of the buffer follows. */
        void end() {
            if (whole != null) {
                long part = (long) whole.capacity() * slices / Math.max(slices, whole.refCnt());
                bytes += Math.max(0, part - counted);
            }
            slices = 0;
            counted = 0;
        }
    }
}
