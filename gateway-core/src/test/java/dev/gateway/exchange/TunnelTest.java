package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.Fakes.FakeOpening;
import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.ExchangeRecord.Side;
import dev.gateway.route.Route;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.Demand;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tunnels, and requests for hosts that are not ours, between a client and an upstream that the test plays. */
class TunnelTest extends ExchangeRig {
    private static final Failure GONE = Failure.of(Cause.CLIENT_CLOSED, "connection reset");
    private static final Failure BROKEN = Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "connection reset");

    @AfterEach
    void everyByteOfATunnelThatEndedWellWasCredited() {
        if (records.completed.get(0).cause == null && upstream().reset == null) {
            assertThat(client.consumed).isEqualTo((int) records.completed.get(0).receivedBytes);
            assertThat(upstream().consumed).isEqualTo((int) records.completed.get(0).sentBytes);
        }
    }

    // ---- CONNECT

    @Test
    void bytesPassBothWaysOnceTheDestinationIsReached() {
        offerTunnels();
        StreamEvents events = connect("api.example.com:8443");
        events.onReadComplete();
        assertThat(opener.last().demand).isEqualTo(Demand.TUNNEL);
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

    private void close(StreamEvents events) {
        events.onData(Unpooled.EMPTY_BUFFER, true);
        opener.last().events.onData(Unpooled.EMPTY_BUFFER, true);
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
    void aClientThatLeavesWhileTheDestinationIsDialledCancelsIt() {
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

    // ---- what looks at a tunnel's first bytes

    private final List<String> inspected = new ArrayList<>();

    /** Lets tunnels pass whose first three bytes are these. */
    private void inspect(String expected) {
        filters.add(new Filter() {
            @Override
            public BodyInspector inspector(RequestHead head, FilterContext context) {
                return (soFar, last) -> {
                    String text = soFar.toString(StandardCharsets.UTF_8);
                    inspected.add(text + (last ? "." : ""));
                    return text.startsWith(expected)
                            ? BodyInspector.PASS
                            : text.length() < 3 && !last
                                    ? BodyInspector.MORE
                                    : new BodyInspector.Refuse(Failure.of(Cause.POLICY_SNI, "another name"));
                };
            }
        });
    }

    @Test
    void bytesAreHeldWithoutCreditUntilTheyHaveBeenSeen() {
        inspect("abc");
        StreamEvents events = tunnel();
        for (String part : List.of("a", "b")) {
            events.onData(bytes(part), false);
            events.onReadComplete();
        }
        opener.last().events.onData(bytes("banner"), false);
        assertThat(upstream().body).isEmpty();
        assertThat(client.consumed).isZero();
        assertThat(client.body).as("the other way is open").hasToString("banner");
        events.onData(bytes("cd"), false);
        events.onReadComplete();
        assertThat(upstream().body).hasToString("abcd");
        assertThat(upstream().unflushed).isZero();
        assertThat(client.consumed).isEqualTo(4);
        events.onData(bytes("e"), false);
        assertThat(upstream().body).hasToString("abcde");
        assertThat(inspected).containsExactly("a", "ab", "abcd");
        close(events);
    }

    @Test
    void whatMustNotPassResetsBothSides() {
        inspect("abc");
        StreamEvents events = tunnel();
        events.onData(bytes("xyz"), false);
        assertThat(upstream().body).isEmpty();
        assertThat(upstream().reset).extracting(Failure::cause).isEqualTo(Cause.POLICY_SNI);
        assertThat(client.reset).extracting(Failure::cause).isEqualTo(Cause.POLICY_SNI);
        assertThat(record().cause).isEqualTo(Cause.POLICY_SNI);
        assertThat(record().endedBy).isEqualTo(Side.GATEWAY);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bytesSentAheadAreSeenBeforeAnythingIsDialled(boolean pass) {
        inspect("abc");
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                later.add(context);
                return new Verdict.Wait(() -> {});
            }
        });
        offerTunnels();
        StreamEvents events = connect("api.example.com:443");
        events.onData(bytes(pass ? "abc" : "xyz"), false);
        assertThat(inspected).as("nobody has been let in yet").isEmpty();
        later.get(0).resume(Verdict.PROCEED);
        if (pass) {
            opener.last().succeed();
            opener.last().events.onHead(response(200), false);
            assertThat(upstream().body).hasToString("abc");
            close(events);
        } else {
            assertAnswered(403, Cause.POLICY_SNI);
            assertThat(opener.openings).isEmpty();
        }
    }

    private final List<FilterContext> later = new ArrayList<>();

    @ParameterizedTest
    @CsvSource({"ab, false", "abc, true"})
    void aClientThatEndsBeforeItHasSaidEnoughIsDecidedOn(String said, boolean passes) {
        inspect("abc");
        StreamEvents events = tunnel();
        events.onData(bytes(said), true);
        if (passes) {
            assertThat(upstream().ended).isTrue();
            opener.last().events.onData(bytes("x"), true);
            assertThat(record().cause).isNull();
        } else {
            assertThat(upstream().body).isEmpty();
            assertThat(client.reset).isNotNull();
            assertThat(record().cause).isEqualTo(Cause.POLICY_SNI);
        }
    }

    @Test
    void aClientThatNeverSpeaksIsDecidedOnAtOnce() {
        inspect("abc");
        offerTunnels();
        handler().onRequest(client, head("CONNECT", "api.example.com:443", ""), true);
        assertAnswered(403, Cause.POLICY_SNI);
        assertThat(inspected).containsExactly(".");
    }

    @Test
    void aClientThatDoesNotSayEnoughIsLeftWhenItsTimeIsUp() {
        inspect("abc");
        timeouts = new Route.Timeouts(0, 0, 0, new Route.Tunnel(100, 0, 0));
        StreamEvents events = tunnel();
        pass(70);
        events.onData(bytes("a"), false);
        pass(70);
        assertThat(client.reset).isNull();
        pass(70);
        assertThat(record().cause).isEqualTo(Cause.IDLE_TIMEOUT);
    }

    @Test
    void anInspectorThatWantsMoreWhereNoMoreComesFailsItsTunnelAlone() {
        filters.add(new Filter() {
            @Override
            public BodyInspector inspector(RequestHead head, FilterContext context) {
                return (soFar, last) -> BodyInspector.MORE;
            }
        });
        StreamEvents events = tunnel();
        events.onData(bytes("a"), true);
        assertThat(client.reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.UNKNOWN);
    }

    @Test
    void everyInspectorIsAsked() {
        inspect("a");
        inspect("ab");
        StreamEvents events = tunnel();
        events.onData(bytes("a"), false);
        assertThat(upstream().body).isEmpty();
        events.onData(bytes("b"), false);
        assertThat(upstream().body).hasToString("ab");
        assertThat(inspected).containsExactly("a", "a", "ab");
        close(events);
    }

    @Test
    void theBodyOfARequestCanBeInspectedToo() {
        inspect("abc");
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("ab"), false);
        assertThat(upstream().body).isEmpty();
        events.onData(bytes("xx"), true);
        assertAnswered(403, Cause.POLICY_SNI);
        assertThat(upstream().reset).isNotNull();
    }

    // ---- time

    private void limits(long idle, long halfClosed, long max) {
        timeouts = new Route.Timeouts(200, 150, 50, new Route.Tunnel(idle, halfClosed, max));
    }

    @Test
    void theLimitsOfRequestsEndWhereATunnelBegins() {
        limits(0, 0, 0);
        StreamEvents events = tunnel();
        pass(1000);
        assertThat(client.reset).isNull();
        close(events);
    }

    @Test
    void aTunnelOnWhichNothingMovesIsReset() {
        limits(100, 0, 0);
        StreamEvents events = tunnel();
        for (int i = 0; i < 3; i++) {
            pass(70);
            events.onData(bytes("x"), false);
            pass(70);
            opener.last().events.onData(bytes("y"), false);
        }
        assertThat(client.reset).isNull();
        pass(150);
        assertThat(client.reset).extracting(Failure::cause).isEqualTo(Cause.IDLE_TIMEOUT);
        assertThat(upstream().reset).extracting(Failure::cause).isEqualTo(Cause.IDLE_TIMEOUT);
        assertThat(record().endedBy).isEqualTo(Side.GATEWAY);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aHalfClosedTunnelHasATimeOfItsOwn(boolean clientFirst) {
        limits(1000, 100, 0);
        StreamEvents events = tunnel();
        pass(500);
        StreamEvents ends = clientFirst ? events : opener.last().events;
        StreamEvents goesOn = clientFirst ? opener.last().events : events;
        ends.onData(Unpooled.EMPTY_BUFFER, true);
        pass(70);
        goesOn.onData(bytes("x"), false);
        pass(70);
        assertThat(client.reset).isNull();
        pass(70);
        assertThat(record().cause).isEqualTo(Cause.IDLE_TIMEOUT);
        assertThat(record().endedBy).isEqualTo(clientFirst ? Side.CLIENT : Side.UPSTREAM);
    }

    @Test
    void withoutATimeOfItsOwnAHalfClosedTunnelHasThatOfOthers() {
        limits(100, 0, 0);
        StreamEvents events = tunnel();
        events.onData(Unpooled.EMPTY_BUFFER, true);
        pass(150);
        assertThat(record().cause).isEqualTo(Cause.IDLE_TIMEOUT);
    }

    @Test
    void aClientThatEndedBeforeTheTunnelOpenedLeavesItHalfClosed() {
        limits(0, 100, 0);
        offerTunnels();
        handler().onRequest(client, head("CONNECT", "api.example.com:443", ""), true);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        pass(150);
        assertThat(record().cause).isEqualTo(Cause.IDLE_TIMEOUT);
        assertThat(record().endedBy).isEqualTo(Side.CLIENT);
    }

    @Test
    void aTunnelHasItsTimeHoweverMuchMoves() {
        limits(100, 0, 300);
        StreamEvents events = tunnel();
        for (int i = 0; i < 4; i++) {
            pass(70);
            events.onData(bytes("x"), false);
        }
        assertThat(client.reset).isNull();
        pass(50);
        assertThat(client.reset).extracting(Failure::cause).isEqualTo(Cause.MAX_DURATION);
        assertThat(record().cause).isEqualTo(Cause.MAX_DURATION);
        assertThat(record().endedBy).isEqualTo(Side.GATEWAY);
    }

    @Test
    void aClientThatIsGoneInsideTheAnswerLeavesNoTimerBehind() {
        limits(100, 100, 100);
        offerTunnels();
        StreamEvents events = connect("api.example.com:443");
        client.onNextCall = () -> events.onReset(GONE);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }

    // ---- requests for hosts that are not ours

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
        assertThat(opener.last().demand).isEqualTo(Demand.EXCHANGE);
        assertThat(opener.last().endpoint).hasToString("other.example.org:8080");
        opener.last().succeed();
        RequestHead sent = upstream().head();
        assertThat((CharSequence) sent.authority()).hasToString("other.example.org:8080");
        assertThat((CharSequence) sent.path()).hasToString("/a//b?c");
        assertThat(sent.fields().toString()).isEqualTo("Via: 1.1 gateway\n");
        opener.last().events.onHead(response(204), true);
        assertThat(record().route).isEqualTo("egress");
    }

    @Test
    void whoeverAskedIsNotToldToOtherHosts() {
        settings.requestId = ExchangeSettings.RequestIdPolicy.GENERATE;
        offerTunnels();
        handler().onRequest(client, absolute("/"), true);
        opener.last().succeed();
        assertThat(upstream().head().fields().toString()).isEqualTo("Via: 1.1 gateway\n");
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
        assertThat(opener.openings).isEmpty();
    }

    // ---- upgrades

    private static RequestHead upgrade(String protocol) {
        RequestHead head = head("CONNECT", "/chat/../chat");
        head.setProtocol(new AsciiString(protocol));
        return head;
    }

    private StreamEvents upgrade(RequestHead head) {
        settings.upgrades = new Route.Upgrades(
                Set.of(new AsciiString("websocket")), Set.of(new AsciiString("https://app.example.com")));
        route();
        return handler().onRequest(client, head, false);
    }

    @Test
    void aWebSocketTakesTheRoutesOfRequests() {
        StreamEvents events = upgrade(upgrade("websocket"));
        assertThat(opener.last().demand).isEqualTo(Demand.UPGRADE);
        opener.last().succeed();
        assertThat((CharSequence) upstream().head().path()).hasToString("/chat");
        assertThat(upstream().head().fields().contains(FieldName.X_FORWARDED_FOR))
                .isTrue();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("frame"), false);
        assertThat(client.body).hasToString("frame");
        close(events);
        assertThat(record().route).isEqualTo("app");
        assertThat(record().kind).isEqualTo(Kind.WEBSOCKET);
        assertThat(record().method).isEqualTo(Method.GET);
    }

    @Test
    void anAnswerThatOpensNoTunnelIsForwardedAndEndsTheExchange() {
        upgrade(upgrade("websocket"));
        opener.last().succeed();
        opener.last().events.onHead(response(403), false);
        opener.last().events.onData(bytes("no"), true);
        assertThat(client.status()).isEqualTo(403);
        assertThat(client.body).hasToString("no");
        assertThat(upstream().reset).as("the request has not ended").isNotNull();
        assertThat(record().cause).isNull();
    }

    @Test
    void anUpgradeThatTheRouteDoesNotListIsNotOffered() {
        upgrade(upgrade("connect-udp"));
        assertAnswered(501, Cause.NO_ROUTE);
        assertThat(opener.openings).isEmpty();
    }

    private static RequestHead wish(String protocol) {
        RequestHead head = head("GET", "/chat");
        head.upgradeTo(new AsciiString(protocol));
        return head;
    }

    @Test
    void aWishThatTheRouteDoesNotListIsIgnored() {
        upgrade(wish("h2c-of-tomorrow"));
        assertThat(opener.last().demand).isEqualTo(Demand.EXCHANGE);
        opener.last().succeed();
        assertThat(upstream().head().method()).isEqualTo(Method.GET);
        assertThat(upstream().ended).as("the request has no body").isTrue();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("page"), true);
        assertThat(client.body).hasToString("page");
        assertThat(upstream().reset).isNull();
        assertThat(record().kind).isEqualTo(Kind.HTTP);
    }

    @Test
    void aWishThatTheUpstreamIgnoresLeavesAnOrdinaryRequest() {
        RequestHead head = wish("websocket");
        upgrade(head);
        assertThat(opener.last().demand).isEqualTo(Demand.UPGRADE);
        opener.last().succeed();
        head.refuseUpgrade(); // as the upstream's adapter does
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("page"), true);
        assertThat(client.body).hasToString("page");
        assertThat(client.ended).isTrue();
        assertThat(upstream().reset).as("both have ended").isNull();
        assertThat(record().kind).isEqualTo(Kind.HTTP);
        assertThat(record().cause).isNull();
    }

    @Test
    void aFailedUpgradeIsNotRepeatedWithoutItsWish() {
        retry = new Route.Retry(1, Set.of(503), 0);
        RequestHead head = wish("websocket");
        upgrade(head);
        opener.last().succeed();
        head.refuseUpgrade();
        opener.last().events.onHead(response(503), true);
        assertThat(opener.openings).hasSize(1);
        assertThat(client.status()).isEqualTo(503);
    }

    @Test
    void upgradesAreComparedWithoutCase() {
        StreamEvents events = upgrade(upgrade("WebSocket"));
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        close(events);
    }

    @ParameterizedTest
    @CsvSource({
        "https://app.example.com, true",
        "HTTPS://App.Example.com, true",
        "https://evil.example.com, false",
        "http://app.example.com, false",
        "https://app.example.com:8443, false",
        "null, false",
    })
    void pagesOfOtherOriginsOpenNoWebSocket(String origin, boolean allowed) {
        RequestHead head = upgrade("websocket");
        head.fields().add(FieldName.ORIGIN, origin);
        StreamEvents events = upgrade(head);
        if (allowed) {
            opener.last().succeed();
            opener.last().events.onHead(response(200), false);
            close(events);
        } else {
            assertAnswered(403, Cause.AUTHZ_DENIED);
            assertThat(opener.openings).isEmpty();
        }
    }

    @Test
    void ofTwoOriginsNoneIsBelieved() {
        RequestHead head = upgrade("websocket");
        head.fields().add(FieldName.ORIGIN, "https://app.example.com");
        head.fields().add(FieldName.ORIGIN, "https://evil.example.com");
        upgrade(head);
        assertAnswered(403, Cause.AUTHZ_DENIED);
    }

    @Test
    void aKeptConnectionThatWasClosedIsNoWebSocketsTrouble() {
        StreamEvents events = upgrade(upgrade("websocket"));
        opener.last().succeed();
        opener.last().events.onReset(stale(RetrySafety.IF_IDEMPOTENT));
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        assertThat(client.heads).extracting(ResponseHead::status).containsExactly(200);
        close(events);
        assertThat(record().attempts).isEqualTo(2);
    }
}
