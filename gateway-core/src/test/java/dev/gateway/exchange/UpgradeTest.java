package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.FieldName;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.UpgradeWish;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.ExchangeRecord.Side;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests that want to become something else, such as a WebSocket. */
class UpgradeTest extends ExchangeRig {
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
        assertThat(opener.last().kind).isEqualTo(StreamKind.UPGRADE);
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
    void anUpgradeThatTheUpstreamDoesNotAnswerIsTheUpstreamsFault() {
        timeouts = new Route.Timeouts(0, 0, 100, TunnelTimeouts.NONE);
        upgrade(upgrade("websocket"));
        opener.last().succeed();
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
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
        assertThat(opener.last().kind).isEqualTo(StreamKind.EXCHANGE);
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
        assertThat(opener.last().kind).isEqualTo(StreamKind.UPGRADE);
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

    private static RequestHead wish(String method, String... protocols) {
        RequestHead head = head(method, "/exec");
        head.wishFor(new UpgradeWish(Stream.of(protocols).map(AsciiString::new).toList(), null));
        return head;
    }

    private StreamEvents wish(RequestHead head, boolean last, String... listed) {
        settings.upgrades =
                new Route.Upgrades(Stream.of(listed).map(AsciiString::new).collect(Collectors.toSet()), Set.of());
        route();
        return handler().onRequest(client, head, last);
    }

    @Test
    void aRequestWithABodyBecomesATunnelWhenItIsComplete() {
        timeouts = new Route.Timeouts(
                0, 0, 0, new TunnelTimeouts(Duration.ofMillis(1000), Duration.ofMillis(50), Duration.ZERO));
        RequestHead head = wish("POST", "foo", "TCP");
        StreamEvents events = wish(head, false, "tcp");
        assertThat(opener.last().kind).isEqualTo(StreamKind.SWITCH);
        opener.last().succeed();
        assertThat(Objects.requireNonNull(head.wish()).text().toString()).isEqualTo("TCP");
        assertThat(upstream().head().method()).isEqualTo(Method.POST);
        events.onData(bytes("{}"), true);
        assertThat(upstream().body).hasToString("{}");
        assertThat(upstream().ended).isTrue();

        upstream().ended = false;
        head.switchTo(new AsciiString("TCP")); // as the upstream's adapter does
        opener.last().events.onHead(response(200), false);
        assertThat(client.status()).isEqualTo(200);
        events.onData(bytes("up"), false);
        assertThat(upstream().body).hasToString("{}up");
        opener.last().events.onData(bytes("down"), false);
        assertThat(client.body).hasToString("down");

        events.onData(bytes(""), true);
        assertThat(upstream().ended).isTrue();
        pass(800);
        assertThat(client.reset).as("a program may run on in silence").isNull();
        opener.last().events.onData(bytes("late"), true);
        assertThat(client.body).hasToString("downlate");
        assertThat(record().kind).isEqualTo(Kind.UPGRADE);
        assertThat(record().method).isEqualTo(Method.POST);
        assertThat(record().cause).isNull();
    }

    @Test
    void aWishThatIsNotGrantedIsAnOrdinaryRequest() {
        StreamEvents events = wish(wish("POST", "tcp"), false, "tcp");
        opener.last().succeed();
        events.onData(bytes("{}"), true);
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("page"), true);
        assertThat(client.body).hasToString("page");
        assertThat(record().kind).isEqualTo(Kind.HTTP);
    }

    @Test
    void aWishForAnUnlistedProtocolIsDropped() {
        RequestHead head = wish("POST", "tcp");
        wish(head, true, "websocket");
        assertThat(opener.last().kind).isEqualTo(StreamKind.EXCHANGE);
        assertThat(head.wish()).isNull();
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().kind).isEqualTo(Kind.HTTP);
    }

    /** So that a list of protocols does not keep a WebSocket from an HTTP/2 upstream. */
    @Test
    void aGetOfWhichOnlyAWebSocketIsLeftIsAnExtendedConnect() {
        StreamEvents events = wish(wish("GET", "foo", "websocket"), true, "websocket");
        assertThat(opener.last().kind).isEqualTo(StreamKind.UPGRADE);
        opener.last().succeed();
        assertThat(upstream().head().isConnect()).isTrue();
        opener.last().events.onHead(response(200), false);
        events.onData(bytes("up"), false);
        assertThat(upstream().body).hasToString("up");
        close(events);
        assertThat(record().kind).isEqualTo(Kind.WEBSOCKET);
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

    // ---- ending a WebSocket by a word

    private static final String WORD = "\u0088\u0002\u0003\u00e9"; // Close, 1001
    private static final String HELLO = "\u0081\u0005hello";
    private static final String CLOSE = "\u0088\u0002\u0003\u00e8";

    private StreamEvents webSocket() {
        client.charset = StandardCharsets.ISO_8859_1;
        StreamEvents events = upgrade(upgrade("websocket"));
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onReadComplete();
        return events;
    }

    private void upstreamSends(String latin1, boolean last) {
        ByteBuf data = bytes("");
        data.writeBytes(latin1.getBytes(StandardCharsets.ISO_8859_1));
        opener.last().events.onData(data, last);
        opener.last().events.onReadComplete();
    }

    /** The client answers the word, and the upstream the client, as they do that know the protocol. */
    private void closeInOrder(StreamEvents events, String before) {
        events.onData(bytes("close"), false);
        events.onReadComplete();
        assertThat(upstream().body)
                .as("the client's answer reaches the upstream")
                .hasToString("close");
        upstreamSends(CLOSE, true);
        assertThat(client.body).as("nothing comes after a Close frame").hasToString(before + WORD);
        assertThat(client.ended).isTrue();
        events.onData(Unpooled.EMPTY_BUFFER, true);
        assertThat(client.reset).isNull();
        assertThat(upstream().reset).isNull();
    }

    @Test
    void aDrainingListenerTellsAWebSocketToGo() {
        StreamEvents events = webSocket();
        upstreamSends(HELLO, false);
        events.onDraining();
        assertThat(client.body).hasToString(HELLO + WORD);
        assertThat(client.unflushed).isZero();
        closeInOrder(events, HELLO);
        assertThat(record().cause).isEqualTo(Cause.DRAIN);
        assertThat(record().endedBy).isEqualTo(Side.GATEWAY);
        assertThat(record().sentBytes).isEqualTo(11);
        assertThat(upstream().consumed).as("also for what was dropped").isEqualTo(7 + 4);
    }

    @Test
    void theWordIsSaidBetweenTwoFrames() {
        StreamEvents events = webSocket();
        upstreamSends(HELLO.substring(0, 3), false);
        events.onDraining();
        assertThat(client.body).hasToString(HELLO.substring(0, 3));
        upstreamSends(HELLO.substring(3, 5), false);
        assertThat(client.body).hasToString(HELLO.substring(0, 5));
        upstreamSends(HELLO.substring(5) + HELLO, false);
        assertThat(client.body).hasToString(HELLO + WORD);
        assertThat(client.unflushed).isZero();
        closeInOrder(events, HELLO);
    }

    @Test
    void theWordComesBeforeTheEnd() {
        StreamEvents events = webSocket();
        upstreamSends(HELLO.substring(0, 3), false);
        events.onDraining();
        upstreamSends(HELLO.substring(3), true);
        assertThat(client.body).hasToString(HELLO + WORD);
        assertThat(client.ended).isTrue();
        events.onData(Unpooled.EMPTY_BUFFER, true);
        assertThat(record().cause).isEqualTo(Cause.DRAIN);
    }

    @Test
    void aWebSocketThatIsClosingIsToldNothing() {
        StreamEvents events = webSocket();
        upstreamSends(CLOSE, false);
        events.onDraining();
        assertThat(client.body).hasToString(CLOSE);
        upstreamSends("", true);
        events.onData(Unpooled.EMPTY_BUFFER, true);
        assertThat(record().cause).isNull();
        assertThat(record().endedBy).isEqualTo(Side.UPSTREAM);
    }

    @Test
    void aWebSocketWhoseUpstreamHasEndedIsToldNothing() {
        StreamEvents events = webSocket();
        upstreamSends(HELLO, true);
        events.onDraining();
        assertThat(client.body).hasToString(HELLO);
        events.onData(Unpooled.EMPTY_BUFFER, true);
        assertThat(record().cause).isNull();
    }

    @Test
    void aWebSocketThatOpensWhileItsListenerDrainsIsToldAtOnce() {
        client.charset = StandardCharsets.ISO_8859_1;
        StreamEvents events = upgrade(upgrade("websocket"));
        events.onDraining();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        assertThat(client.status()).isEqualTo(200);
        assertThat(client.body).hasToString(WORD);
        closeInOrder(events, "");
    }

    @ParameterizedTest
    @CsvSource({"100, 0, IDLE_TIMEOUT", "0, 100, MAX_DURATION"})
    void aWebSocketWhoseTimeIsUpIsToldBeforeItIsClosed(long idle, long max, Cause cause) {
        timeouts = new Route.Timeouts(
                0, 0, 0, new TunnelTimeouts(Duration.ofMillis(idle), Duration.ofMillis(50), Duration.ofMillis(max)));
        StreamEvents events = webSocket();
        pass(150);
        assertThat(client.body).hasToString(WORD);
        assertThat(client.unflushed).isZero();
        pass(TunnelExchange.CLOSE_MILLIS / 2);
        assertThat(client.closed).as("there is time to answer").isNull();
        events.onData(bytes("still here"), false);
        pass(TunnelExchange.CLOSE_MILLIS);
        assertThat(client.closed).extracting(Failure::cause).isEqualTo(cause);
        assertThat(upstream().closed).isNotNull();
        assertThat(client.reset).isNull();
        assertThat(upstream().reset).isNull();
        assertThat(record().cause).isEqualTo(cause);
    }

    @Test
    void aWebSocketWhoseTimeIsUpAmidAFrameIsReset() {
        timeouts =
                new Route.Timeouts(0, 0, 0, new TunnelTimeouts(Duration.ofMillis(100), Duration.ZERO, Duration.ZERO));
        webSocket();
        upstreamSends(HELLO.substring(0, 3), false);
        pass(150 + TunnelExchange.CLOSE_MILLIS);
        assertThat(client.body).hasToString(HELLO.substring(0, 3));
        assertThat(client.reset).extracting(Failure::cause).isEqualTo(Cause.IDLE_TIMEOUT);
        assertThat(upstream().reset).isNotNull();
    }

    @Test
    void aConnectionThatIsEndedTellsItsWebSocketFirst() {
        StreamEvents events = webSocket();
        assertThat(events.onEnding(Failure.of(Cause.ADMIN_CLOSED, "the certificate has expired")))
                .isTrue();
        assertThat(client.body).hasToString(WORD);
        assertThat(client.closed).extracting(Failure::cause).isEqualTo(Cause.ADMIN_CLOSED);
        assertThat(upstream().closed).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.ADMIN_CLOSED);
        assertThat(record().endedBy).isEqualTo(Side.GATEWAY);
    }

    /** At the end of a drain, when it was told long ago. */
    @Test
    void aWebSocketThatWasToldIsClosedInOrder() {
        StreamEvents events = webSocket();
        events.onDraining();
        assertThat(client.body).hasToString(WORD);
        assertThat(events.onEnding(Failure.of(Cause.DRAIN, "cut off"))).isTrue();
        assertThat(client.body).hasToString(WORD);
        assertThat(client.closed).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.DRAIN);
    }

    @Test
    void aWebSocketAmidAFrameIsEndedAtOnce() {
        StreamEvents events = webSocket();
        upstreamSends(HELLO.substring(0, 3), false);
        assertThat(events.onEnding(Failure.of(Cause.DRAIN, "cut off"))).isFalse();
        events.onReset(Failure.of(Cause.DRAIN, "cut off"));
        assertThat(client.closed).isNull();
        assertThat(upstream().reset).isNotNull();
    }

    @Test
    void aWebSocketWhoseTimeIsUpMayEndInOrder() {
        timeouts =
                new Route.Timeouts(0, 0, 0, new TunnelTimeouts(Duration.ofMillis(100), Duration.ZERO, Duration.ZERO));
        StreamEvents events = webSocket();
        pass(150);
        closeInOrder(events, "");
        assertThat(record().cause).isEqualTo(Cause.IDLE_TIMEOUT);
    }

    @Test
    void aClientThatIsGoneWhenItIsToldLeavesNothingBehind() {
        timeouts =
                new Route.Timeouts(0, 0, 0, new TunnelTimeouts(Duration.ofMillis(100), Duration.ZERO, Duration.ZERO));
        StreamEvents events = webSocket();
        client.onNextCall = () -> events.onReset(GONE);
        pass(150);
        assertThat(upstream().reset).isNotNull();
        assertThat(record().endedBy).isEqualTo(Side.GATEWAY);
    }

    @Test
    void otherUpgradesAreLeftAlone() {
        settings.upgrades = new Route.Upgrades(Set.of(new AsciiString("other")), Set.of());
        route();
        StreamEvents events = handler().onRequest(client, upgrade("other"), false);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        events.onDraining();
        assertThat(events.onEnding(Failure.of(Cause.DRAIN, "cut off"))).isFalse();
        assertThat(client.body).isEmpty();
        close(events);
        assertThat(record().kind).isEqualTo(Kind.UPGRADE);
    }
}
