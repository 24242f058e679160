package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.settings.ClientTrust;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.SourceAddress;
import dev.gateway.stream.StreamEvents;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who the client of a request is, and what it may say of itself. The peer is 192.0.2.7. */
class ClientTest extends ExchangeRig {
    private static RequestHead saying(String... fields) {
        RequestHead head = head("GET", "/");
        for (int i = 0; i < fields.length; i += 2) {
            head.fields().add(FieldName.of(fields[i]), fields[i + 1]);
        }
        return head;
    }

    private ExchangeRecord exchange(String... fields) {
        route();
        handler().onRequest(client, saying(fields), true);
        opener.last().succeed();
        opener.last().events.onHead(response(204), true);
        return record();
    }

    private Fields forwarded() {
        return upstream().head().fields();
    }

    @Test
    void whatAStrangerSaysOfItselfIsNotBelieved() {
        assertThat(exchange("X-Forwarded-For", "203.0.113.9", "Forwarded", "for=203.0.113.9").client)
                .hasToString("192.0.2.7:5555");
        assertThat((CharSequence) forwarded().first(FieldName.X_FORWARDED_FOR)).hasToString("192.0.2.7");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "203.0.113.9 | 203.0.113.9",
                "203.0.113.9:4711 | 203.0.113.9:4711",
                "198.51.100.1, 203.0.113.9 | 203.0.113.9",
                "203.0.113.9, 192.0.2.8 | 203.0.113.9",
                "203.0.113.9, 2001:db8:1::1, 192.0.2.8 | 203.0.113.9",
                "203.0.113.9, 2001:db8:2::1, 192.0.2.8 | 2001:db8:2::1",
                "192.0.2.9, 192.0.2.8 | 192.0.2.9",
                "203.0.113.9, unknown | unknown",
                "203.0.113.9, unknown, 192.0.2.8 | unknown",
                "203.0.113.9, unix: | unknown",
                "203.0.113.9, \"203.0.113.9\" | unknown",
                "203.0.113.9, 192.0.2.8, | 203.0.113.9",
                "nonsense | unknown"
            })
    void behindTrustedProxiesItIsTheLastHopBeforeThem(String hops, String address) {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        assertThat(exchange("X-Forwarded-For", hops).client).hasToString(address);
    }

    @Test
    void forwardedCountsWhereThereIsNothingElse() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        assertThat(exchange("Forwarded", "for=198.51.100.1, for=\"[2001:db8::1]:80\";proto=https, for=192.0.2.8")
                        .client)
                .hasToString("[2001:db8::1]:80");
    }

    /** A proxy may hide its client (RFC 7239, section 6); that does not make the client the proxy. */
    @ParameterizedTest
    @ValueSource(
            strings = {"for=unknown", "for=_hidden", "proto=https", "for=\"\"", "for=198.51.100.1, for=_a;by=192.0.2.8"
            })
    void aClientWhomAProxyHidesHasNoAddress(String forwarded) {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        SourceAddress found = exchange("Forwarded", forwarded).client;
        assertThat(found).isEqualTo(SourceAddress.UNKNOWN);
        assertThat(found.ip()).isNull();
        assertThat(found.network())
                .hasToString("clients without an address")
                .isNotEqualTo(SourceAddress.UNIX.network());
    }

    @Test
    void aTrustedProxyThatSaysNothingIsTheClient() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        assertThat(exchange().client).hasToString("192.0.2.7:5555");
    }

    @Test
    void filtersAndWhoeverIsDialedAreToldTheSameClient() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        List<SourceAddress> seen = new ArrayList<>();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                seen.add(context.client());
                return Verdict.PROCEED;
            }
        });
        SourceAddress found = exchange("X-Forwarded-For", "203.0.113.9").client;
        assertThat(seen).containsExactly(found);
        assertThat(found.network()).hasToString("203.0.113.9");
    }

    @Test
    void aTunnelBehindATrustedProxyHasItsOwnClient() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        offerTunnels();
        RequestHead head = head("CONNECT", "api.example.com:443", "");
        head.fields().add(FieldName.X_FORWARDED_FOR, "203.0.113.9");
        StreamEvents events = handler().onRequest(client, head, false);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        assertThat(handler().tunnels(0, 1).get(0).client().address()).isEqualTo("203.0.113.9");
        assertThat(handler().tunnels(0, 1).get(0).client().peer()).isEqualTo("192.0.2.7:5555");
        close(events);
        assertThat(record().client).hasToString("203.0.113.9");
    }

    // ---- fields

    @Test
    void whatOnlyTrustedProxiesMaySayDoesNotPassFromStrangers() {
        exchange("X-Real-IP", "1", "X-Forwarded-Prefix", "/2", "X_Forwarded_For", "3", "traceparent", "4", "b3", "5");
        assertThat(forwarded().toString()).doesNotContain("Real", "Prefix", "_", "traceparent", "b3: ");
    }

    @Test
    void whatTrustedProxiesSayPasses() {
        settings.trust = trust(HeadersWithUnderscores.DROP);
        exchange("X-Real-IP", "1", "X-Forwarded-Prefix", "/2", "traceparent", "4", "b3", "5");
        assertThat(forwarded().toString())
                .contains("X-Real-IP: 1", "X-Forwarded-Prefix: /2", "traceparent: 4", "b3: 5");
    }

    /** A proxy writes its fields in their own spelling, so its client has written what only looks alike. */
    @Test
    void whatLooksLikeAFieldOfATrustedProxyIsOfItsClient() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        exchange(
                "X-Real-IP",
                "1",
                "X_Real_IP",
                "6",
                "X_Forwarded_For",
                "6",
                "X.Forwarded.Prefix",
                "6",
                "X-Forwarded_Host",
                "6",
                "Client_Cert",
                "6",
                "X_Request_Id",
                "6",
                "X_B3_TraceId",
                "6",
                "X_User",
                "2",
                "X-Forwarded-Prefix",
                "/3");
        assertThat(forwarded().toString())
                .contains("X-Real-IP: 1", "X_User: 2", "X-Forwarded-Prefix: /3")
                .doesNotContain(": 6");
    }

    /** A proxy that writes one form hands on what its client has written in the other. */
    @Test
    void whatIsReadIsOneFormAndTheOtherIsDropped() {
        settings.trust = trust(HeadersWithUnderscores.DROP);
        exchange("X-Forwarded-For", "203.0.113.9", "Forwarded", "for=6.6.6.6;proto=https;host=evil.test");
        assertThat(forwarded().toString())
                .contains("X-Forwarded-Proto: http\n", "X-Forwarded-For: 203.0.113.9, 192.0.2.7\n")
                .doesNotContain("6.6.6.6", "evil.test");
        assertThat(record().target.isSecure()).isFalse();
    }

    @Test
    void whatTheClientUsedIsDecidedForAll() {
        settings.trust = trust(HeadersWithUnderscores.DROP);
        exchange("Forwarded", "for=203.0.113.9;proto=https;host=\"shop.test:8444\"", "X-Forwarded-Host", "evil.test");
        assertThat(record().target)
                .hasToString("ClientTarget[scheme=https, authority=shop.test:8444, port=8444, isStated=true]");
        assertThat(forwarded().toString())
                .contains("X-Forwarded-Host: shop.test:8444\n")
                .doesNotContain("evil.test");
    }

    /** What is dropped must not select a route either. */
    @Test
    void nobodyChoosesARouteByTheFormThatIsNotRead() {
        settings.trust = trust(HeadersWithUnderscores.DROP);
        route();
        Router all = settings.router(0);
        settings.router = head -> head.fields().contains(FieldName.FORWARDED) ? all.match(head) : null;
        handler().onRequest(client, saying("X-Forwarded-For", "203.0.113.9", "Forwarded", "for=1.1.1.1"), true);
        assertAnswered(404, Cause.NO_ROUTE);
    }

    @Test
    void tracesOfAnyonePassWhereTheyAreTrusted() {
        settings.trust = new ClientTrust(ClientTrust.NOBODY.proxies(), true, HeadersWithUnderscores.DROP);
        exchange("X-Real-IP", "1", "traceparent", "4", "X-B3-TraceId", "5");
        assertThat(forwarded().toString())
                .contains("traceparent: 4", "X-B3-TraceId: 5")
                .doesNotContain("Real");
    }

    /** A stranger who says what only a proxy may say must not get by a rule that is meant for it. */
    @Test
    void nobodyChoosesARouteByWhatIsNotBelieved() {
        route();
        Router all = settings.router(0);
        settings.router = head -> head.fields().contains(FieldName.of("X-Real-IP")) ? all.match(head) : null;
        handler().onRequest(client, saying("X-Real-IP", "10.0.0.1"), true);
        assertAnswered(404, Cause.NO_ROUTE);
    }

    @Test
    void requestsForOtherHostsKeepWhatTheirClientsSay() {
        offerTunnels();
        RequestHead head = saying("traceparent", "4", "X-Forwarded-For", "203.0.113.9");
        head.setAbsoluteForm(true);
        handler().onRequest(client, head, true);
        opener.last().succeed();
        assertThat(forwarded().toString()).isEqualTo("traceparent: 4\nX-Forwarded-For: 203.0.113.9\n");
        opener.last().events.onHead(response(204), true);
    }

    @Test
    void oddNamesAreDropped() {
        settings.trust = trust(HeadersWithUnderscores.DROP);
        assertThat(exchange("X_User", "1", "Content~Length", "2", "X-User", "3").hasOddNames)
                .isTrue();
        assertThat(forwarded().toString()).contains("X-User: 3").doesNotContain("_", "~");
    }

    @Test
    void oddNamesPassWhereTheyAreAllowed() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        assertThat(exchange("X_User", "1").hasOddNames).isFalse();
        assertThat(forwarded().toString()).contains("X_User: 1");
    }

    @Test
    void oddNamesAreRefused() {
        settings.trust = trust(HeadersWithUnderscores.REJECT);
        route();
        handler().onRequest(client, saying("X_User", "1"), true);
        assertAnswered(400, Cause.CLIENT_PROTOCOL_ERROR);
        assertThat(record().detail).contains("X_User");
        assertThat(record().hasOddNames).isTrue();
    }

    private Fields trailers(String... fields) {
        Fields trailers = new Fields();
        for (int i = 0; i < fields.length; i += 2) {
            trailers.add(FieldName.of(fields[i]), fields[i + 1]);
        }
        return trailers;
    }

    @Test
    void trailersTellNothingOfTheClientAndHaveNoOddNames() {
        settings.trust = trust(HeadersWithUnderscores.DROP);
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onTrailers(trailers("X-Real-IP", "1", "X_User", "2", "X-Checksum", "3", "b3", "4"));
        assertThat(String.valueOf(upstream().trailers)).isEqualTo("X-Checksum: 3\n");
        opener.last().events.onHead(response(204), true);
    }

    @Test
    void trailersWithOddNamesAreRefused() {
        settings.trust = trust(HeadersWithUnderscores.REJECT);
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onTrailers(trailers("X_User", "2"));
        assertAnswered(400, Cause.CLIENT_PROTOCOL_ERROR);
    }

    @Test
    void aRefusedHeadHasAClientToo() {
        settings.trust = trust(HeadersWithUnderscores.DROP);
        route();
        handler()
                .onRefused(
                        client,
                        saying("X-Forwarded-For", "203.0.113.9"),
                        Failure.of(Cause.CLIENT_PROTOCOL_ERROR, "made up"));
        assertThat(record().client).hasToString("203.0.113.9");
    }
}
