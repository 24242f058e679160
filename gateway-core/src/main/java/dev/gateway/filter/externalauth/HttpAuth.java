package dev.gateway.filter.externalauth;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.buffer.Unpooled;

/** Asks by HTTP: 2xx allows, 3xx and 4xx refuse, and the rest decides nothing. */
record HttpAuth(AuthQuestion about, AuthAnswerFields fields) implements AuthProtocol {
    private static final int SERVER_ERROR = 500;

    @Override
    public UpstreamCall.Request question(RequestHead head, boolean tls, FilterContext context, AuthPolicy policy) {
        return new UpstreamCall.Request(
                about.about(head, tls, context),
                Unpooled.EMPTY_BUFFER,
                policy.timeoutMillis(),
                policy.maxResponseBytes(),
                false);
    }

    @Override
    public void remove(Fields request) {
        about.removeTwins(request);
        fields.remove(request);
    }

    @Override
    public AuthDecision decision(UpstreamCall.Answer answer, AuthPolicy policy) {
        ResponseHead head = answer.head();
        HopByHop.stripResponse(head.status(), head.fields());
        if (head.status() >= 300 && head.status() < SERVER_ERROR && answer.whole()) {
            return new AuthDecision.Answered(head, answer.body());
        }
        answer.body().release();
        if (head.status() < 300) {
            return consent(head.fields());
        }
        String detail = "answered " + head.status();
        return head.status() >= SERVER_ERROR
                ? new AuthDecision.None(detail, false)
                : new AuthDecision.None(
                        detail + " with more than " + policy.maxResponseBytes() + " bytes of body", true);
    }

    private AuthDecision.Allowed consent(Fields answer) {
        return (head, context) -> {
            Fields found = fields.forClient(answer);
            if (found != null) {
                if (!context.tryHold(found.heldBytes(), true)) {
                    return false;
                }
                context.keep((AuthDecision.Gift) response -> fields.give(found, response));
            }
            fields.apply(answer, head.fields(), context);
            return true;
        };
    }

    @Override
    public boolean mayRefuse(int status) {
        return status >= 300 && status < SERVER_ERROR;
    }
}
