package dev.gateway.exchange;

import dev.gateway.overload.Stalled;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import java.util.function.LongSupplier;

/** Bytes of a body that an exchange holds because nobody takes them. When direct memory runs out, it may fail for them. */
final class StalledBody extends Stalled.Holder {
    private final Exchange exchange;
    private final LongSupplier bytes;
    private final String reason;

    /**
     * Makes it; its owner calls {@link #stall} and {@link #resume}.
     *
     * @param bytes returns how many are held now
     * @param reason why the exchange fails if it is cut
     */
    StalledBody(Exchange exchange, LongSupplier bytes, String reason) {
        this.exchange = exchange;
        this.bytes = bytes;
        this.reason = reason;
    }

    @Override
    protected long held() {
        return bytes.getAsLong();
    }

    @Override
    protected Object culprit() {
        return exchange.record.connection;
    }

    @Override
    protected void cut() {
        exchange.fail(Failure.of(Cause.OVERLOAD, reason));
    }
}
