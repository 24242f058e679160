package dev.gateway.exchange.body;

import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import java.util.function.LongSupplier;

/** Bytes of a body that an exchange holds because its sink does not take them. If memory runs out, it may fail. */
public final class StalledBody extends StalledPeers.Holder {
    private final Owner owner;
    private final LongSupplier bytes;
    private final String reason;
    private long charged;

    /** The exchange of the body. */
    public interface Owner {
        /** Returns the client's connection; the bytes that all its exchanges hold are added up. */
        ConnectionInfo connection();

        /** Returns the cause of what the exchange holds: the same object for everything that is added up. */
        default Object culprit() {
            return connection().culprit();
        }

        /** Returns how many bytes of heap the exchange holds. */
        long heldHeap();

        /** The exchange cannot succeed any more. */
        void fail(Failure failure);
    }

    /**
     * Makes it; its owner calls {@link #stall}, {@link #charge} and {@link #resume}.
     *
     * @param bytes returns the number of bytes held now
     * @param reason the reason if the exchange fails because of them
     */
    public StalledBody(Owner owner, LongSupplier bytes, String reason) {
        this.owner = owner;
        this.bytes = bytes;
        this.reason = reason;
    }

    /** Charges the client for this number of bytes, instead of those that were charged before. */
    public void charge(long now) {
        if (now != charged) {
            owner.connection().account().waitingBodies().change(charged, now);
            charged = now;
        }
    }

    @Override
    protected long held() {
        return Math.max(charged, bytes.getAsLong());
    }

    @Override
    protected long heldHeap() {
        return owner.heldHeap();
    }

    @Override
    protected Object culprit() {
        return owner.culprit();
    }

    @Override
    protected void cut() {
        owner.fail(Failure.of(Cause.OVERLOAD, reason));
    }
}
