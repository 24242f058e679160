package dev.gateway.filter.externalauth;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** One request on its way to the verdict of an {@link ExternalAuth}. Confined to the exchange's event loop. */
final class AuthCheck implements UpstreamCall.Callback {
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
        UpstreamCall.Request question = server.protocol().question(head, tls, context, server.policy());
        server.protocol().remove(head.fields()); // not sooner: some of these may be what the server decides by
        call = context.call(server.upstream(), question, this);
        return new Verdict.Wait(this::cancel);
    }

    private void cancel() {
        if (call != null) {
            call.cancel();
        }
    }

    @Override
    public void onAnswer(UpstreamCall.Answer answer) {
        AuthDecision decision = server.protocol().decision(answer, server.policy());
        if (decision instanceof AuthDecision.Allowed allowed) {
            server.tally().onAllowed();
            context.resume(
                    allowed.apply(head, context)
                            ? Verdict.PROCEED
                            : new Verdict.Refuse(Failure.of(
                                    Cause.OVERLOAD, detail("gives the request more than there is memory for"))));
        } else if (decision instanceof AuthDecision.Answered answered) {
            server.tally().onDenied();
            int status = answered.head().status();
            Fields fields = answered.head().fields();
            if (!fields.contains(FieldName.CACHE_CONTROL)) {
                fields.add(FieldName.CACHE_CONTROL, NO_STORE); // it is no answer of the resource
            }
            Failure refusal = Failure.of(Cause.AUTHZ_DENIED, status, detail("answered " + status));
            context.resume(new Verdict.Reply(answered.head(), answered.body(), refusal));
        } else if (decision instanceof AuthDecision.Refused refused) {
            server.tally().onDenied();
            context.resume(new Verdict.Refuse(Failure.of(Cause.AUTHZ_DENIED, detail(refused.detail()))));
        } else if (decision instanceof AuthDecision.None none) {
            fail(none.detail(), none.refused());
        }
    }

    @Override
    public void onFailure(Failure failure, int status) {
        String begun = status == 0 ? "did not answer" : "answered " + status + ", but not all of it came";
        // A client that holds too much memory must not get past the server by that.
        boolean refused = failure.cause() == Cause.OVERLOAD
                || (status != 0 && server.protocol().mayRefuse(status));
        fail(begun + ": " + failure.cause().label() + ": " + failure.detail(), refused);
    }

    /**
     * The request gets no verdict that can be carried out.
     *
     * @param refused whether the server has refused the request, which no policy for errors may change
     */
    private void fail(String why, boolean refused) {
        server.tally().onFailed();
        boolean allowed = server.policy().allowOnError() && !refused;
        context.resume(allowed ? Verdict.PROCEED : new Verdict.Refuse(Failure.of(Cause.AUTHZ_ERROR, detail(why))));
    }

    private String detail(String what) {
        return ExternalAuthFeature.NAME + ": " + server.upstream().name() + " " + what;
    }
}
