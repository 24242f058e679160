package dev.gateway.exchange.body;

import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import java.util.function.LongSupplier;

/** Bytes of a body that an exchange holds because its sink does not take them. If memory runs out, it may fail. */
public final class StalledBody extends StalledPeers.Holder {
    private final BodyContext exchange;
    private final LongSupplier bytes;
    private final String reason;
    private long charged;

    /**
     * Makes it; its owner calls {@link #stall}, {@link #charge} and {@link #resume}.
     *
     * @param bytes returns the number of bytes held now
     * @param reason the reason if the exchange fails because of them
     */
    public StalledBody(BodyContext exchange, LongSupplier bytes, String reason) {
        this.exchange = exchange;
        this.bytes = bytes;
        this.reason = reason;
    }

    /** Charges the client for this number of bytes, instead of those that were charged before. */
    public void charge(long now) {
        if (now != charged) {
            exchange.connection().account().waitingBodies().change(charged, now);
            charged = now;
        }
    }

    @Override
    protected long held() {
        return Math.max(charged, bytes.getAsLong());
    }

    @Override
    protected long heldHeap() {
        return exchange.heldHeap();
    }

    @Override
    protected Object culprit() {
        return exchange.culprit();
    }

    @Override
    protected void cut() {
        exchange.fail(Failure.of(Cause.OVERLOAD, reason));
    }
}
