package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.message.Fields;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the client that its exchange has failed: by a response of the gateway, or by a reset. No state. */
final class FailureAnswer {
    private static final Logger log = LoggerFactory.getLogger(FailureAnswer.class);

    private FailureAnswer() {}

    /**
     * Tells the client.
     *
     * @param action the action of the state machine: answer, or reset the stream
     * @param fields further fields of an answer
     */
    static void tell(Exchange exchange, Action action, Failure failure, Fields fields) {
        try {
            if (action == Action.ANSWER) {
                exchange.record.status = failure.status();
                if (isForWantOfRoom(failure.cause())) {
                    exchange.server.delayNextRequest(exchange.loop.pause);
                }
                exchange.record.sentBytes = exchange.loop.replies.send(
                        exchange.server,
                        exchange.head,
                        failure,
                        exchange.settings(),
                        exchange.routing.about(failure, fields));
            } else {
                exchange.server.reset(failure);
            }
        } catch (RuntimeException | OutOfMemoryError e) {
            breakOff(exchange, e);
        }
    }

    /**
     * Whether the failure is a lack of capacity. A client may repeat such a request at once, so its next one is delayed.
     */
    private static boolean isForWantOfRoom(Cause cause) {
        return cause == Cause.OVERLOAD || cause == Cause.PENDING_OVERFLOW || cause == Cause.NO_HEALTHY_ENDPOINT;
    }

    /** Sending threw an exception. Resets the stream, since nobody knows how much the client has got. */
    static void breakOff(ExchangeContext exchange, Throwable defect) {
        log.error("Ending an exchange of listener {}", exchange.record.connection.listenerName(), defect);
        try {
            exchange.server.reset(Attempt.ABANDONED);
        } catch (RuntimeException e) {
            log.debug("resetting it", e);
        }
    }
}
