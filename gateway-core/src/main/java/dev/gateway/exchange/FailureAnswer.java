package dev.gateway.exchange;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.message.Fields;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the client of an exchange that it has failed: by an answer from here, or by a reset. No state. */
final class FailureAnswer {
    private static final Logger log = LoggerFactory.getLogger(FailureAnswer.class);

    private FailureAnswer() {}

    /**
     * Tells the client.
     *
     * @param action what the state says: to answer, or to reset the stream
     * @param proxied whether the client has named where its request goes
     * @param fields what an answer has besides the usual ones
     */
    static void tell(ExchangeContext exchange, Action action, Failure failure, boolean proxied, Fields fields) {
        try {
            if (action == Action.ANSWER) {
                exchange.record.status = failure.status();
                if (isForWantOfRoom(failure.cause())) {
                    exchange.server.delayNextRequest(exchange.loop.pause);
                }
                LocalReply.About about = new LocalReply.About(
                        exchange.record.requestId, proxied ? exchange.record.authority : null, fields);
                exchange.record.sentBytes =
                        exchange.loop.replies.send(exchange.server, exchange.head, failure, exchange.settings(), about);
            } else {
                exchange.server.reset(failure);
            }
        } catch (RuntimeException | OutOfMemoryError e) {
            breakOff(exchange, e);
        }
    }

    /** Whether there is nothing wrong with the request, so that the client may send it again and again. */
    private static boolean isForWantOfRoom(Cause cause) {
        return cause == Cause.OVERLOAD || cause == Cause.PENDING_OVERFLOW || cause == Cause.NO_HEALTHY_ENDPOINT;
    }

    /** The last that was to be sent threw: how much of it the client has got is not known. */
    static void breakOff(ExchangeContext exchange, Throwable defect) {
        log.error("Ending an exchange of listener {}", exchange.record.connection.listenerName(), defect);
        try {
            exchange.server.reset(Attempt.ABANDONED);
        } catch (RuntimeException e) {
            log.debug("resetting it", e);
        }
    }
}
