package dev.gateway.filter.auth;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** One request on its way to the verdict of an {@link ExternalAuth}. Confined to the exchange's event loop. */
final class AuthCheck implements UpstreamCall.Callback {
    private static final int SERVER_ERROR = 500;
    private static final AsciiString NO_STORE = new AsciiString("no-store");

    private final AuthServer server;
    private final RequestHead head;
    private final FilterContext context;
    private @Nullable UpstreamCall call; // null until it has begun

    AuthCheck(AuthServer server, RequestHead head, FilterContext context) {
        this.server = server;
        this.head = head;
        this.context = context;
    }

    Verdict begin() {
        boolean tls = server.upstream().settings().tls() != null;
        RequestHead question = server.question().about(head, tls, context);
        server.fields().remove(head.fields()); // not sooner: some of these may be what the server decides by
        call = context.call(
                server.upstream(),
                new UpstreamCall.Request(
                        question,
                        Unpooled.EMPTY_BUFFER,
                        server.policy().timeoutMillis(),
                        server.policy().maxResponseBytes()),
                this);
        return new Verdict.Wait(this::cancel);
    }

    private void cancel() {
        if (call != null) {
            call.cancel();
        }
    }

    @Override
    public void onAnswer(UpstreamCall.Answer answer) {
        int status = answer.head().status();
        HopByHop.stripResponse(answer.head().fields());
        if (status < 300) {
            answer.body().release();
            allow(answer.head().fields());
        } else if (status >= SERVER_ERROR) {
            answer.body().release();
            fail("answered " + status, false);
        } else if (!answer.whole()) {
            answer.body().release();
            fail(
                    "answered " + status + " with more than " + server.policy().maxResponseBytes() + " bytes of body",
                    true);
        } else {
            refuse(answer);
        }
    }

    private void allow(Fields answer) {
        server.tally().onAllowed();
        server.fields().apply(answer, head.fields(), context);
        Fields found = server.fields().forClient(answer);
        if (found != null) {
            context.keep(found);
        }
        context.resume(Verdict.PROCEED);
    }

    private void refuse(UpstreamCall.Answer answer) {
        server.tally().onDenied();
        ResponseHead refusal = answer.head();
        if (!refusal.fields().contains(FieldName.CACHE_CONTROL)) {
            refusal.fields().add(FieldName.CACHE_CONTROL, NO_STORE); // it is no answer of the resource
        }
        String detail = "ExternalAuth: " + name() + " answered " + refusal.status();
        context.resume(
                new Verdict.Reply(refusal, answer.body(), Failure.of(Cause.AUTHZ_DENIED, refusal.status(), detail)));
    }

    @Override
    public void onFailure(Failure failure, int status) {
        String begun = status == 0 ? "did not answer" : "answered " + status + ", but not all of it came";
        fail(begun + ": " + failure.cause().label() + ": " + failure.detail(), status >= 300 && status < SERVER_ERROR);
    }

    /**
     * The request gets no verdict that can be carried out.
     *
     * @param refused whether the server has refused the request, which no policy for errors may change
     */
    private void fail(String detail, boolean refused) {
        server.tally().onFailed();
        Failure failure = Failure.of(Cause.AUTHZ_ERROR, "ExternalAuth: " + name() + " " + detail);
        boolean allowed = server.policy().allowOnError() && !refused;
        context.resume(allowed ? Verdict.PROCEED : new Verdict.Refuse(failure));
    }

    private String name() {
        return server.upstream().name();
    }
}
