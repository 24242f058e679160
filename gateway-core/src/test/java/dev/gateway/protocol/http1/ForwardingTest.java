package dev.gateway.protocol.http1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import dev.gateway.protocol.http1.Upstream.Received;
import dev.gateway.stream.Cause;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Requests on a connection to a proxy, which is to forward them. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class ForwardingTest {
    private static final String KEPT = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok";

    private static Upstream parent(@Nullable String authorization) {
        return new Upstream(Http1ClientSettings.proxy("http://proxy.test:3128", authorization));
    }

    @Test
    void theProxyIsToldTheWholeUriAndWhoWeAreOnEveryRequest() {
        Upstream parent = parent("Basic YTpi");
        for (String method : new String[] {"GET", "POST"}) {
            Received exchange = parent.open();
            RequestHead head = Upstream.request(method, -1);
            head.fields().add(FieldName.ACCEPT, new AsciiString("*/*"));
            exchange.stream().head(head, true);
            exchange.stream().flush();
            assertThat(parent.sent())
                    .startsWith(method + " http://a.test/p?q HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\n"
                            + "Proxy-Authorization: Basic YTpi\r\n")
                    .endsWith("\r\n\r\n");
            assertThat(head.fields().contains(FieldName.PROXY_AUTHORIZATION)).isFalse();
            parent.respond(KEPT);
            assertThat(exchange.body).asString().isEqualTo("ok");
        }
        assertThat(parent.reusable).isEqualTo(2);
        parent.finish();
    }

    /** The last proxy writes the asterisk (RFC 9112, section 3.2.4). */
    @Test
    void theProxyIsToldAUriWithoutAPathForOptionsOfAWholeServer() {
        Upstream parent = parent(null);
        RequestHead head = Upstream.request("OPTIONS", -1);
        head.setPath(new AsciiString("*"));
        Received exchange = parent.open();
        exchange.stream().head(head, true);
        exchange.stream().flush();
        assertThat(parent.sent()).startsWith("OPTIONS http://a.test HTTP/1.1\r\nHost: a.test\r\n");
        parent.respond(KEPT);
        parent.finish();
    }

    @Test
    void aProxyThatDoesNotWantToKnowIsNotTold() {
        Upstream parent = parent(null);
        parent.get();
        assertThat(parent.sent()).isEqualTo("GET http://a.test/p?q HTTP/1.1\r\nHost: a.test\r\n\r\n");
        // The destination's, for all we know.
        parent.respond("HTTP/1.1 403 Forbidden\r\nProxy-Connection: Keep-Alive\r\nContent-Length: 0\r\n\r\n");
        assertThat(parent.reusable).isEqualTo(1);
        parent.finish();
    }

    @Test
    void aConnectionThatTheProxyDoesNotSayItKeepsIsNotUsedAgain() {
        Upstream parent = parent("Basic YTpi");
        Received exchange = parent.get();
        parent.respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        assertThat(exchange.complete).isTrue();
        assertThat(parent.reusable).isZero();
        assertThat(parent.closed).isEqualTo(1);
        parent.finish();
    }

    @Test
    void aProxyThatWantsToKnowMoreFailsTheRequest() {
        Upstream parent = parent("Basic YTpi");
        Received exchange = parent.get();
        parent.respond("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n"
                + "Content-Length: 4\r\n\r\nbody");
        assertThat(exchange.heads).isEmpty();
        assertThat(exchange.reset)
                .isNotNull()
                .satisfies(failure -> assertThat(failure.cause()).isEqualTo(Cause.CONNECT_FAILED))
                .satisfies(failure ->
                        assertThat(failure.detail()).isEqualTo("parent http://proxy.test:3128: answered 407"));
        assertThat(parent.closed).isEqualTo(1);
        parent.finish();
    }

    @Test
    void anOriginsWishForProxyCredentialsIsItsOwn() {
        Upstream origin = new Upstream();
        Received exchange = origin.get();
        origin.respond("HTTP/1.1 407 Odd\r\nContent-Length: 0\r\n\r\n");
        assertThat(exchange.heads).hasSize(1);
        origin.finish();
    }
}
