package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.upstream.stream.StreamKind;
import org.junit.jupiter.api.Test;

/** Requests for hosts that are not ours. */
class ForwardProxyTest extends ExchangeRig {
    private RequestHead absolute(String path) {
        RequestHead head = head("GET", "other.example.org:8080", path);
        head.setAbsoluteForm(true);
        return head;
    }

    @Test
    void aRequestForAnotherHostIsForwardedAsTheClientWroteIt() {
        offerTunnels();
        RequestHead head = absolute("/a//b?c");
        head.fields().add(FieldName.CONNECTION, "X-Secret");
        head.fields().add(FieldName.of("X-Secret"), "1");
        head.fields().add(FieldName.PROXY_CONNECTION, "keep-alive");
        head.fields().add(FieldName.PROXY_AUTHORIZATION, "Basic x");
        handler().onRequest(client, head, true);
        assertThat(opener.last().kind).isEqualTo(StreamKind.EXCHANGE);
        assertThat(opener.last().endpoint).hasToString("other.example.org:8080");
        opener.last().succeed();
        RequestHead sent = upstream().head();
        assertThat((CharSequence) sent.authority()).hasToString("other.example.org:8080");
        assertThat((CharSequence) sent.path()).hasToString("/a//b?c");
        assertThat(sent.fields().toString()).isEmpty();
        opener.last().events.onHead(response(204), true);
        assertThat(record().route).isEqualTo("egress");
    }

    @Test
    void whoeverAskedIsNotToldToOtherHosts() {
        settings.requestId = ExchangeSettings.RequestIdPolicy.GENERATE;
        offerTunnels();
        handler().onRequest(client, absolute("/"), true);
        opener.last().succeed();
        assertThat(upstream().head().fields().toString()).isEmpty();
        opener.last().events.onHead(response(204), true);
        assertThat(String.valueOf(record().requestId)).matches("[0-9a-f]{32}");
    }

    @Test
    void aRouteOfOurOwnComesFirst() {
        offerTunnels();
        route();
        RequestHead head = absolute("/");
        handler().onRequest(client, head, true);
        opener.last().succeed();
        assertThat(upstream().head().fields().contains(FieldName.X_FORWARDED_FOR))
                .isTrue();
        opener.last().events.onHead(response(204), true);
        assertThat(record().route).isEqualTo("app");
    }

    @Test
    void aRequestForAnotherHostIsNotFoundWhereNoTunnelsAreOffered() {
        handler().onRequest(client, absolute("/"), true);
        assertAnswered(404, Cause.NO_ROUTE);
    }

    @Test
    void aRequestInOriginFormIsNeverForwardedElsewhere() {
        offerTunnels();
        handler().onRequest(client, head("GET", "other.example.org", "/"), true);
        assertAnswered(404, Cause.NO_ROUTE);
        assertThat(client.body.toString()).contains("\"detail\":\"this is a proxy for http:// and CONNECT\"");
        assertThat(opener.openings).isEmpty();
    }

    /** RFC 9112, section 3.2.4: the URI of the client has no path. */
    @Test
    void optionsOfAWholeServerGoToTheServer() {
        offerTunnels();
        RequestHead head = head("OPTIONS", "other.example.org:8080", "*");
        head.setAbsoluteForm(true);
        handler().onRequest(client, head, true);
        opener.last().succeed();
        assertThat((CharSequence) upstream().head().path()).hasToString("*");
        assertThat((CharSequence) upstream().head().authority()).hasToString("other.example.org:8080");
        opener.last().events.onHead(response(204), true);
        assertThat(client.status()).isEqualTo(204);
    }

    @Test
    void optionsOfTheGatewayItselfAreItsOwn() {
        offerTunnels();
        handler().onRequest(client, head("OPTIONS", "gateway.example.org", "*"), true);
        assertThat(client.status()).isEqualTo(200);
        assertThat(opener.openings).isEmpty();
    }

    /** 404 would look like the destination's. */
    @Test
    void whoAsksForHttpsWithoutATunnelIsToldToUseOne() {
        offerTunnels();
        RequestHead head = absolute("/");
        head.setScheme(Scheme.HTTPS);
        handler().onRequest(client, head, true);
        assertAnswered(501, Cause.NO_ROUTE);
        assertThat((CharSequence) client.heads.get(0).reason())
                .hasToString("Not Implemented: use CONNECT for https://");
        assertThat(client.body.toString()).contains("\"detail\":\"use CONNECT for https://\"");
        assertThat(opener.openings).isEmpty();
    }

    @Test
    void whereNoTunnelsAreOfferedNobodyIsToldToUseThem() {
        RequestHead head = absolute("/");
        head.setScheme(Scheme.HTTPS);
        handler().onRequest(client, head, true);
        assertAnswered(404, Cause.NO_ROUTE);
        assertThat((CharSequence) client.heads.get(0).reason()).isNull();
        assertThat(client.body.toString()).doesNotContain("detail");
    }

    @Test
    void adviceAboutProxiesIsForTheirClientsOnly() {
        Failure failure = Failure.of(Cause.CLIENT_PROTOCOL_ERROR, "test").advising("use CONNECT");
        handler().onRefused(client, null, failure);
        assertThat(client.body.toString()).doesNotContain("detail");
        offerTunnels();
        FakeServerStream other = new FakeServerStream();
        handler().onRefused(other, null, failure);
        assertThat(other.body.toString()).contains("\"detail\":\"use CONNECT\"");
    }
}
