package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.Fakes.FakeOpening;
import dev.gateway.exchange.reply.LocalReply;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tunnels between a client and an upstream that the test plays. */
class TunnelExchangeTest extends ExchangeRig {
    private static final Failure BROKEN = Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "connection reset");

    // ---- CONNECT

    @Test
    void bytesPassBothWaysOnceTheDestinationIsReached() {
        offerTunnels();
        StreamEvents events = connect("api.example.com:8443");
        events.onReadComplete();
        assertThat(opener.last().kind).isEqualTo(StreamKind.TUNNEL);
        assertThat(opener.last().endpoint).hasToString("api.example.com:8443");
        assertThat(client.heads).isEmpty();
        opener.last().succeed();
        assertThat(client.heads).isEmpty();
        opener.last().events.onHead(response(200), false);
        assertThat(client.status()).isEqualTo(200);
        assertThat(client.ended).isFalse();
        assertThat(client.unflushed).as("the client waits for it").isZero();
        events.onData(bytes("ping"), false);
        events.onReadComplete();
        opener.last().events.onData(bytes("pong!"), false);
        opener.last().events.onReadComplete();
        assertThat(upstream().body).hasToString("ping");
        assertThat(client.body).hasToString("pong!");
        events.onData(Unpooled.EMPTY_BUFFER, true);
        opener.last().events.onData(Unpooled.EMPTY_BUFFER, true);
        assertThat(record().status).isEqualTo(200);
        assertThat(record().route).isEqualTo("egress");
        assertThat(record().kind).isEqualTo(Kind.TUNNEL);
        assertThat(record().receivedBytes).isEqualTo(4);
        assertThat(record().sentBytes).isEqualTo(5);
    }

    @Test
    void whatTheClientSentAheadIsDelivered() {
        offerTunnels();
        StreamEvents events = connect("api.example.com:443");
        events.onData(bytes("hello"), false);
        events.onReadComplete();
        assertThat(client.consumed).as("held without credit").isZero();
        opener.last().succeed();
        assertThat(upstream().body).hasToString("hello");
        assertThat(upstream().unflushed).isZero();
        opener.last().events.onHead(response(200), false);
        close(events);
    }

    @Test
    void whatTheClientSendsInsideTheAnswerGoesBehindWhatItSentAhead() {
        offerTunnels();
        StreamEvents[] events = new StreamEvents[1];
        client.onNextCall = () -> events[0].onData(bytes("b"), false);
        events[0] = connect("api.example.com:443");
        events[0].onData(bytes("a"), false);
        FakeOpening opening = opener.last();
        opening.stream.onNextCall = () -> opening.events.onHead(response(200), false); // inside ClientStream.head
        opening.succeed();
        assertThat(upstream().body).hasToString("ab");
        close(events[0]);
    }

    @Test
    void withoutAnOfferOfTunnelsConnectIsNotAllowed() {
        connect("api.example.com:443");
        assertAnswered(405, Cause.NO_ROUTE);
        assertThat(client.field("Allow")).contains("GET").doesNotContain("CONNECT");
        assertThat(opener.openings).isEmpty();
    }

    @Test
    void aListenerWithoutARouteForTheNameRefuses() {
        settings.tunnels = head -> null;
        connect("api.example.com:443");
        assertAnswered(404, Cause.NO_ROUTE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"api.example.com", "api.example.com:", "", ":443", "user@api.example.com:443", "a:99999"})
    void connectNeedsAHostAndAPort(String authority) {
        offerTunnels();
        connect(authority);
        assertAnswered(400, Cause.CLIENT_PROTOCOL_ERROR);
        assertThat(opener.openings).isEmpty();
    }

    @Test
    void connectWithContentIsRefused() {
        offerTunnels();
        RequestHead head = new RequestHead(
                Method.CONNECT,
                new AsciiString("http"),
                new AsciiString("api.example.com:443"),
                AsciiString.EMPTY_STRING,
                new Fields(),
                5);
        handler().onRequest(client, head, false);
        assertAnswered(400, Cause.CLIENT_PROTOCOL_ERROR);
    }

    @Test
    void theLimitOfBodiesIsNoneOfTunnels() {
        settings.maxBody = 3;
        StreamEvents events = tunnel();
        events.onData(bytes("more than three"), false);
        assertThat(upstream().body).hasToString("more than three");
        close(events);
    }

    @ParameterizedTest
    @EnumSource(
            value = Cause.class,
            names = {"DNS_FAILED", "CONNECT_FAILED", "CONNECT_TIMEOUT", "POLICY_ADDRESS", "OVERLOAD"})
    void whyTheDestinationCannotBeReachedIsWhatTheClientIsTold(Cause cause) {
        offerTunnels();
        StreamEvents events = connect("api.example.com:443");
        events.onData(bytes("early"), false);
        opener.last().fail(failure(cause, RetrySafety.NEVER));
        assertAnswered(cause.status(), cause);
        assertThat(client.field("Proxy-Status"))
                .isEqualTo("gateway;error=" + LocalReply.errorType(cause)
                        + (cause == Cause.OVERLOAD ? "" : ";next-hop=\"api.example.com:443\"") + ";details=\""
                        + cause.label() + "\"");
    }

    @Test
    void whyAClientIsToProveWhoItIsIsToldWithTheChallenge() {
        Fields challenge = new Fields();
        challenge.add(FieldName.PROXY_AUTHENTICATE, "Basic realm=\"gateway\"");
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                return new Verdict.Refuse(Failure.of(Cause.PROXY_AUTH, "no credentials"), challenge);
            }
        });
        offerTunnels();
        connect("api.example.com:443");
        assertAnswered(407, Cause.PROXY_AUTH);
        assertThat(client.field("Proxy-Authenticate")).isEqualTo("Basic realm=\"gateway\"");
        assertThat(client.field("Proxy-Status")).doesNotContain("next-hop");
    }

    @Test
    void whoeverAsksWhatIsAllowedIsToldOfTunnels() {
        offerTunnels();
        handler().onRequest(client, head("TRACE", "/"), true);
        assertAnswered(405, Cause.NO_ROUTE);
        assertThat(client.field("Allow")).contains("CONNECT");
    }

    @Test
    void anotherEndpointIsTriedBeforeTheTunnelIsOpen() {
        settings.tunnels = head -> settings.router.match(head("GET", "/"));
        route();
        StreamEvents events = connect("db.example.com:5432");
        events.onData(bytes("early"), false);
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        assertThat((CharSequence) upstream().head().authority()).hasToString("db.example.com:5432");
        assertThat(upstream().body).hasToString("early");
        close(events);
        assertThat(record().attempts).isEqualTo(2);
    }

    @Test
    void allEndpointsAreTriedForATunnelButEachOnce() {
        endpoints = IntStream.range(0, 12)
                .mapToObj(i -> new Endpoint(i, "db" + i + ".test", 5432, 1))
                .toList();
        balancer = request -> endpoints.get(0);
        settings.tunnels = head -> settings.router.match(head("GET", "/"));
        route();
        connect("db.example.com:5432");
        for (int i = 0; i < 12; i++) {
            opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        }
        assertAnswered(502, Cause.CONNECT_FAILED);
        assertThat(opener.openings)
                .extracting(opening -> opening.endpoint)
                .hasSize(12)
                .doesNotHaveDuplicates();
    }

    // ---- the end of each direction

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void eachDirectionEndsByItself(boolean clientFirst) {
        StreamEvents events = tunnel();
        if (clientFirst) {
            events.onData(bytes("bye"), true);
            assertThat(upstream().ended).isTrue();
            assertThat(client.ended).isFalse();
            opener.last().events.onData(bytes("late"), false);
            opener.last().events.onData(bytes("r"), true);
        } else {
            opener.last().events.onData(bytes("later"), true);
            assertThat(client.ended).isTrue();
            assertThat(upstream().ended).isFalse();
            events.onData(bytes("b"), false);
            events.onData(bytes("ye"), true);
        }
        assertThat(upstream().body).hasToString("bye");
        assertThat(client.body).hasToString("later");
        assertThat(client.unflushed + upstream().unflushed).isZero();
        assertThat(client.reset).isNull();
        assertThat(upstream().reset).isNull();
        assertThat(record().cause).isNull();
    }

    @Test
    void aClientThatEndsItsSideBeforeTheTunnelIsOpenStillHears() {
        offerTunnels();
        StreamEvents events = connect("api.example.com:443");
        events.onData(bytes("all"), true);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        assertThat(upstream().body).hasToString("all");
        assertThat(upstream().ended).isTrue();
        opener.last().events.onData(bytes("answer"), true);
        assertThat(client.body).hasToString("answer");
        assertThat(record().cause).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aClientsResetIsTheUpstreams(boolean halfClosed) {
        StreamEvents events = tunnel();
        if (halfClosed) {
            opener.last().events.onData(bytes("bye"), true);
        }
        events.onReset(GONE);
        assertThat(upstream().reset).isEqualTo(GONE);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
        assertThat(record().status).isEqualTo(200);
        opener.last().events.onData(bytes("late"), false);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anUpstreamsResetIsTheClients(boolean halfClosed) {
        StreamEvents events = tunnel();
        if (halfClosed) {
            events.onData(bytes("bye"), true);
        }
        opener.last().events.onReset(BROKEN);
        assertThat(client.reset).isEqualTo(BROKEN);
        assertThat(client.ended).isFalse();
        assertThat(record().cause).isEqualTo(Cause.UPSTREAM_RESET_IN_BODY);
        events.onData(bytes("late"), true);
    }

    @Test
    void aClientThatLeavesWhileTheDestinationIsDialedCancelsIt() {
        offerTunnels();
        StreamEvents events = connect("api.example.com:443");
        events.onData(bytes("early"), false);
        events.onReset(GONE);
        assertThat(opener.last().cancelled).isTrue();
        assertThat(record().status).isEqualTo(499);
    }

    @Test
    void creditIsGivenForWhatTheOtherSideHasRoomFor() {
        StreamEvents events = tunnel();
        client.writable = upstream().writable = false;
        events.onData(bytes("abc"), false);
        opener.last().events.onData(bytes("defgh"), false);
        assertThat(client.consumed).isZero();
        assertThat(upstream().consumed).isZero();
        client.writable = upstream().writable = true;
        events.onWritable();
        opener.last().events.onWritable();
        assertThat(client.consumed).isEqualTo(3);
        assertThat(upstream().consumed).isEqualTo(5);
        close(events);
    }
}
