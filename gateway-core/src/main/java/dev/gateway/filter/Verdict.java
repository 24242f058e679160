package dev.gateway.filter;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

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
     * @param refusal why the request is refused by this answer; null if it is not. Its status does not count
     */
    record Reply(ResponseHead head, ByteBuf body, @Nullable Failure refusal) implements Verdict {
        /** Answers a request with which all is well. */
        public Reply(ResponseHead head, ByteBuf body) {
            this(head, body, null);
        }
    }

    /**
     * The request is refused, and the failure says why and with which status from 400 to 599.
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
