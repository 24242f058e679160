package dev.gateway.filter;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Upstream call (subrequest): a request of a filter's own, such as a question to a server that decides. It goes the way
 * of clients' requests: by balancer, health and limits of its upstream, on pooled connections. {@link FilterContext#call}
 * begins it on the exchange's event loop, and all else happens there. It ends with the exchange at the latest.
 */
public interface UpstreamCall {
    /** Gives it up: the callback is not called any more. Does nothing if it is over. */
    void cancel();

    /**
     * What is sent.
     *
     * @param head the call's own; its authority may be empty, which stands for that of the endpoint
     * @param body owned by the call; small, since it is kept for another attempt
     * @param timeoutMillis from now to the end of the answer, all attempts together
     * @param maxBodyBytes how much of the answer's body is wanted at most
     * @param isSafe whether it may be sent again after a failure, although its method does not say so
     */
    record Request(RequestHead head, ByteBuf body, long timeoutMillis, int maxBodyBytes, boolean isSafe) {}

    /**
     * What came back.
     *
     * @param body owned by the receiver
     * @param whole false if the body was longer than wanted: then it is empty, and the rest was not waited for
     * @param trailers null if there were none
     */
    record Answer(ResponseHead head, ByteBuf body, boolean whole, @Nullable Fields trailers) {}

    /** Takes the answer: one call of one method, unless the call is cancelled first. */
    interface Callback {
        /** An answer came, whatever its status. */
        void onAnswer(Answer answer);

        /**
         * None came, or not all of it.
         *
         * @param status of the answer that broke off, 0 if none had begun
         */
        void onFailure(Failure failure, int status);
    }
}
