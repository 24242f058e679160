package dev.gateway.filter.externalauth;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.upstream.Upstream;

/**
 * External authorization (forward authentication; the Gateway API's HTTPExternalAuthFilter): asks a server about each
 * request, by HTTP or by Envoy's gRPC. If that consents, the request continues; a refusal goes to the client; failures
 * decide nothing. The request's body waits meanwhile. Shared by all event loops.
 */
public final class ExternalAuth implements Filter {
    private final AuthServer server;

    private ExternalAuth(AuthServer server) {
        this.server = server;
    }

    /**
     * Makes a filter that asks by HTTP.
     *
     * @param tally of the rule
     */
    public static ExternalAuth byHttp(
            Upstream upstream, AuthQuestion question, AuthAnswerFields fields, AuthPolicy policy, AuthTally tally) {
        return new ExternalAuth(new AuthServer(upstream, new HttpAuth(question, fields), policy, tally));
    }

    /**
     * Makes a filter that asks by gRPC.
     *
     * @param tally of the rule
     */
    public static ExternalAuth byGrpc(Upstream upstream, GrpcAuth protocol, AuthPolicy policy, AuthTally tally) {
        return new ExternalAuth(new AuthServer(upstream, protocol, policy, tally));
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        return new AuthCheck(server, head, context).begin();
    }

    /** What the head does not take from the client, the trailers do not, either. */
    @Override
    public void onRequestTrailers(Fields trailers, FilterContext context) {
        server.protocol().remove(trailers);
        if (context.kept() instanceof AuthDecision.Gift gift) {
            gift.clean(trailers);
        }
    }

    @Override
    public void onResponse(ResponseHead head, FilterContext context) {
        giveFields(head.fields(), context);
    }

    @Override
    public void onFailure(Fields answer, FilterContext context) {
        giveFields(answer, context);
    }

    private void giveFields(Fields to, FilterContext context) {
        if (context.kept() instanceof AuthDecision.Gift gift) {
            gift.give(to);
        }
    }
}
