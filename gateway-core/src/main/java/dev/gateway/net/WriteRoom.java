package dev.gateway.net;

import dev.gateway.overload.memory.DirectMemory;
import io.netty.channel.Channel;
import io.netty.channel.WriteBufferWaterMark;

/**
 * Write buffer water marks. How much may wait in a connection for a peer that does not take it at once: the less memory is
 * left, the less. Above the second mark a channel is no longer writable, and writable again below the first.
 */
public final class WriteRoom {
    public static final WriteBufferWaterMark USUAL = new WriteBufferWaterMark(32 << 10, 64 << 10);
    private static final WriteBufferWaterMark SCANT = new WriteBufferWaterMark(8 << 10, 16 << 10);

    /** What is written has to leave before more is taken. */
    private static final WriteBufferWaterMark NONE = new WriteBufferWaterMark(1, 1);

    private WriteRoom() {}

    /** Gives a channel as much room as memory allows now; to be called before something is written. */
    @SuppressWarnings("ReferenceEquality") // the channel has one of ours
    public static void fit(Channel channel) {
        WriteBufferWaterMark room = room(DirectMemory.supply());
        if (channel.config().getWriteBufferWaterMark() != room) {
            // A channel that is not writable becomes so when enough has left by these marks, as something has to leave.
            channel.config().setWriteBufferWaterMark(room);
        }
    }

    static WriteBufferWaterMark room(DirectMemory.Supply supply) {
        return switch (supply) {
            case AMPLE, MODERATE -> USUAL;
            case SCARCE -> SCANT;
            case RESERVE -> NONE;
        };
    }
}
