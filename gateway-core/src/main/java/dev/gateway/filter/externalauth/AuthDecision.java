package dev.gateway.filter.externalauth;

import dev.gateway.filter.FilterContext;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.buffer.ByteBuf;

/** What the answer of an auth server decides about a request. */
sealed interface AuthDecision {
    /** The request may continue, with what the consent gives it. */
    non-sealed interface Allowed extends AuthDecision {
        /**
         * Edits the request, and keeps in the context a {@link Gift} for the response, if there is one.
         *
         * @return false if there is no memory for it
         */
        boolean apply(RequestHead head, FilterContext context);
    }

    /**
     * The client gets an answer of the server.
     *
     * @param body owned by the receiver
     */
    record Answered(ResponseHead head, ByteBuf body) implements AuthDecision {}

    /**
     * The client may not do this, and the server has no answer for it.
     *
     * @param detail continues the server's name
     */
    record Refused(String detail) implements AuthDecision {}

    /**
     * There is no decision that can be carried out.
     *
     * @param detail continues the server's name
     * @param refused whether the server has refused the request, or may have: no policy for errors changes that
     */
    record None(String detail, boolean refused) implements AuthDecision {}

    /** What a consent gives the rest of the exchange. */
    interface Gift {
        /** Gives a response its fields. */
        void give(Fields response);

        /** Takes out of the trailers of the request what the server has said in its head. */
        default void clean(Fields trailers) {}
    }
}
