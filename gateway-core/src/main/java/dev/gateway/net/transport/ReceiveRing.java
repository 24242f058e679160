package dev.gateway.net.transport;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringBufferRingConfig;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringFixedBufferRingAllocator;
import io.netty.channel.uring.IoUringIoHandlerConfig;

/**
 * Provided buffer ring (io_uring): the buffers of an event loop on io_uring, which the kernel fills for whichever
 * connection has something to read. They are handed on slice by slice, and replaced when they are full. Those in the ring
 * are the loop's.
 */
public final class ReceiveRing {
    /** Set to {@link #GROUP} for each connection that is to use it. */
    static final ChannelOption<Short> OPTION = IoUringChannelOption.IO_URING_BUFFER_GROUP_ID;

    public static final short GROUP = 0;

    /** What is received at once at most, and what a byte may keep that is kept. */
    static final int BUFFER = 64 << 10;

    private static final short BUFFERS = 16;

    /** How many there are at first, and how many are added when there were too few. */
    private static final int STEP = 8;

    private static final boolean AVAILABLE = IoUring.isAvailable()
            && IoUring.isRecvMultishotEnabled()
            && IoUring.isRegisterBufferRingIncSupported()
            && KernelVersion.current().isAtLeast(6, 17) // which can end a receive after so many bytes
            && RingOps.areReadable();

    private ReceiveRing() {}

    /** Whether this kernel and this version of Netty can receive so, and be stopped. */
    static boolean isAvailable() {
        return AVAILABLE;
    }

    /** Returns how a loop's io_uring is made: with such a ring, if there can be one. */
    static IoUringIoHandlerConfig config(ByteBufAllocator allocator) {
        IoUringIoHandlerConfig config = new IoUringIoHandlerConfig();
        if (AVAILABLE) {
            config.setBufferRingConfig(IoUringBufferRingConfig.builder()
                    .bufferGroupId(GROUP)
                    .bufferRingSize(BUFFERS)
                    .batchSize(STEP)
                    .incremental(true)
                    .allocator(new IoUringFixedBufferRingAllocator(allocator, BUFFER))
                    .build());
        }
        return config;
    }
}
