package dev.gateway.net.transport;

import io.netty.channel.uring.IoUringIoOps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What Netty's channels ask of io_uring, which Netty does not tell: as much of it as {@link CappedReceive} must know. */
final class RingOps {
    private static final Logger log = LoggerFactory.getLogger(RingOps.class);

    // As in linux/io_uring.h.
    static final byte ASYNC_CANCEL = 14;
    static final byte RECV = 27;
    static final byte BUFFER_SELECT = 1 << 5;
    static final short MULTISHOT = 1 << 1;

    /** Null if this Netty has them no more. */
    private static final @Nullable Fields FIELDS = find();

    private RingOps() {}

    private record Fields(VarHandle opcode, VarHandle priority, VarHandle descriptor, VarHandle data) {}

    private static @Nullable Fields find() {
        Class<?> owner = IoUringIoOps.class;
        try {
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(owner, MethodHandles.lookup());
            return new Fields(
                    lookup.findVarHandle(owner, "opcode", byte.class),
                    lookup.findVarHandle(owner, "ioPrio", short.class),
                    lookup.findVarHandle(owner, "fd", int.class),
                    lookup.findVarHandle(owner, "data", long.class));
        } catch (ReflectiveOperationException e) {
            log.warn("io_uring costs more with this version of Netty", e);
            return null;
        }
    }

    /** Whether this version of Netty lets itself be asked. */
    static boolean areReadable() {
        return FIELDS != null;
    }

    private static Fields fields() {
        return Objects.requireNonNull(FIELDS);
    }

    /** Whether it is to receive into buffers of the loop until it is cancelled. */
    static boolean isMultishotReceive(IoUringIoOps op) {
        return (byte) fields().opcode.get(op) == RECV
                && ((short) fields().priority.get(op) & MULTISHOT) != 0;
    }

    /** Whether it is to cancel a receive. What cancels is told apart by the code of what is cancelled. */
    static boolean isCancelOfReceive(IoUringIoOps op) {
        return (byte) fields().opcode.get(op) == ASYNC_CANCEL
                && (long) fields().data.get(op) == RECV;
    }

    /**
     * Returns the same receive with an end.
     *
     * @param bytes after which the kernel ends it; the last buffer may hold more
     */
    static IoUringIoOps capped(IoUringIoOps receive, int bytes) {
        int descriptor = (int) fields().descriptor.get(receive);
        long data = (long) fields().data.get(receive);
        short group = ReceiveRing.GROUP;
        return new IoUringIoOps(
                RECV, BUFFER_SELECT, MULTISHOT, descriptor, 0, 0, 0, 0, data, group, (short) 0, bytes, 0);
    }
}
