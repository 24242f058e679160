package dev.gateway.filter;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;

/** Filter result: what a filter decides of a request. */
public sealed interface Verdict {
    /** The next filter's turn. */
    Verdict PROCEED = new Proceed();

    /** The request continues. */
    record Proceed() implements Verdict {}

    /**
     * The request is answered here.
     *
     * @param body owned by the receiver; may be empty
     */
    record Reply(ResponseHead head, ByteBuf body) implements Verdict {}

    /**
     * The request is refused, and the failure says why and with which status.
     *
     * @param fields what the answer has besides the usual, such as a challenge; may be empty
     */
    record Refuse(Failure failure, Fields fields) implements Verdict {
        /** Refuses with nothing to add. */
        public Refuse(Failure failure) {
            this(failure, new Fields());
        }
    }

    /**
     * The filter answers later, on the exchange's event loop, by {@link FilterContext#resume}. Bounded because the
     * request's body gets no credit meanwhile.
     *
     * @param cancel called if the exchange ends first; nothing may be resumed after it
     */
    record Wait(Runnable cancel) implements Verdict {}
}
