package dev.gateway.observe;

import dev.gateway.stream.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Exchange observer: is told what becomes of the exchanges of one event loop; called on that loop, so it must not block.
 * Every method does nothing by default. While two attempts of an exchange run, the record shows the one that the call is
 * about.
 */
public interface ExchangeObserver {
    /** Observes nothing. */
    ExchangeObserver NONE = new ExchangeObserver() {};

    /** A request's head is there. */
    default void onBegun(ExchangeRecord exchange) {}

    /** An attempt begins: upstream and endpoint are chosen, {@link ExchangeRecord#attempts} counts it. */
    default void onAttemptBegun(ExchangeRecord exchange) {}

    /** The attempt goes to another endpoint than the one that was chosen first, which had no room. */
    default void onAttemptMoved(ExchangeRecord exchange) {}

    /**
     * An attempt is over.
     *
     * @param status of the final response head, 0 if none came
     * @param failure why it failed, null if its response was, or is being, forwarded, or if the attempt is not needed
     * @param again whether another attempt follows, or continues
     */
    default void onAttemptEnded(ExchangeRecord exchange, int status, @Nullable Failure failure, boolean again) {}

    /** The request begins to wait until an endpoint of its upstream can be reached. */
    default void onConnectWait(ExchangeRecord exchange) {}

    /** It tries to connect again, or has ended; it may wait once more. */
    default void onConnectWaitEnded(ExchangeRecord exchange, long nanos) {}

    /** It waits no more; called once for a request that has waited, or for which too many wait already. */
    default void onConnectWaited(ExchangeRecord exchange, ConnectWaitResult result) {}

    /** The hedge budget of the upstream did not allow a second attempt. */
    default void onHedgeOverBudget(ExchangeRecord exchange) {}

    /** An endpoint of an upstream with sticky sessions has answered, and the response will be forwarded. */
    default void onSession(ExchangeRecord exchange, SessionResult result) {}

    /** The exchange has become a tunnel. */
    default void onTunnelOpened(ExchangeRecord exchange) {}

    /** Bytes came from, or go to, the client of a tunnel: all that the record counts is told here as well. */
    default void onTunnelBytes(ExchangeRecord exchange, long received, long sent) {}

    /** A tunnel is still open, and something has moved since it was opened or reported last; not called often. */
    default void onTunnelProgress(ExchangeRecord exchange) {}

    /** The exchange is over; the record is complete. Called once for each {@link #onBegun}. */
    default void onCompleted(ExchangeRecord exchange) {}
}
