package dev.gateway.filter.auth;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.upstream.Upstream;

/**
 * External authorization (forward authentication; the Gateway API's HTTPExternalAuthFilter): asks a server about each
 * request. If that answers 2xx, the request continues; 3xx and 4xx go to the client; 5xx decide nothing. The request's body
 * waits meanwhile. Shared by all event loops.
 */
public final class ExternalAuth implements Filter {
    private final AuthServer server;

    /**
     * Makes the filter.
     *
     * @param tally of the rule
     */
    public ExternalAuth(
            Upstream upstream, AuthQuestion question, AuthAnswerFields fields, AuthPolicy policy, AuthTally tally) {
        this.server = new AuthServer(upstream, question, fields, policy, tally);
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
        server.fields().remove(trailers);
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
        if (context.kept() instanceof Fields found) {
            server.fields().give(found, to);
        }
    }
}
