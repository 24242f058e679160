package dev.gateway.observe;

import dev.gateway.stream.Failure;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Observer of sampled exchanges: tells an observer of those exchanges of one event loop whose trace is recorded. Which one
 * that is may change, so that the exporter of spans need not exist, nor be loaded, before it is needed.
 */
public final class RecordedExchanges implements ExchangeObserver {
    private final Executor loop;
    private ExchangeObserver next = NONE;

    /** Makes it for an event loop. */
    public RecordedExchanges(Executor loop) {
        this.loop = loop;
    }

    /** Returns the event loop. */
    public Executor loop() {
        return loop;
    }

    /** Tells another observer from now on; on the event loop. */
    public void use(ExchangeObserver observer) {
        next = observer;
    }

    private ExchangeObserver of(ExchangeRecord exchange) {
        return exchange.trace != null && exchange.trace.isRecorded() ? next : NONE;
    }

    @Override
    public void onAttemptBegun(ExchangeRecord exchange) {
        of(exchange).onAttemptBegun(exchange);
    }

    @Override
    public void onAttemptEnded(ExchangeRecord exchange, int status, @Nullable Failure failure, boolean again) {
        of(exchange).onAttemptEnded(exchange, status, failure, again);
    }

    @Override
    public void onCompleted(ExchangeRecord exchange) {
        of(exchange).onCompleted(exchange);
    }
}
