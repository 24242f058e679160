package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.UpgradeWish;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.SourceAddress;
import dev.gateway.testing.Blockade;
import dev.gateway.testing.Buffers;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** WebSockets and other protocols that HTTP/1.1 switches to: extended CONNECT for the core, 101 on the wire. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class UpgradeTest {
    // The example of RFC 6455, section 1.3.
    private static final String KEY = "dGhlIHNhbXBsZSBub25jZQ==";
    private static final String ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
    private static final String HANDSHAKE = "GET /chat?x=1 HTTP/1.1\r\nHost: a.test\r\nUpgrade: WebSocket\r\n"
            + "Connection: keep-alive, Upgrade\r\nSec-WebSocket-Key: " + KEY + "\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Protocol: soap, wamp\r\n\r\n";
    private static final String GET = "GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n";

    private final Downstream client = new Downstream();
    private final Upstream upstream = new Upstream();

    @AfterEach
    void releaseEverything() {
        client.finish();
        upstream.finish();
        assertEquals(1, upstream.closed);
    }

    // ---- downstream

    private RequestHead asked(String request) {
        client.answer = received -> {};
        client.send(request);
        return Objects.requireNonNull(client.last().head);
    }

    private void answer(int status, String body, String... fields) {
        Fields all = new Fields();
        for (int i = 0; i < fields.length; i += 2) {
            all.add(FieldName.of(fields[i]), fields[i + 1]);
        }
        client.last().stream.head(new ResponseHead(status, null, all, body.length()), false);
        client.last().stream.data(Buffers.of(body), true);
        client.last().stream.flush();
    }

    @Test
    void aWebSocketHandshakeIsAnExtendedConnectForTheCore() {
        RequestHead head = asked(HANDSHAKE);
        assertTrue(head.isConnect());
        assertEquals("websocket", String.valueOf(head.protocol()));
        assertEquals("/chat?x=1", head.path().toString());
        assertFalse(client.last().complete);
        assertFalse(head.fields().contains(FieldName.SEC_WEBSOCKET_KEY));
        assertEquals("13", String.valueOf(head.fields().first(FieldName.SEC_WEBSOCKET_VERSION)));
    }

    @Test
    void aSuccessIsA101ThatProvesTheKeyWasRead() {
        asked(HANDSHAKE);
        Fields fields = new Fields();
        fields.add(FieldName.of("Sec-WebSocket-Protocol"), "wamp");
        fields.add(FieldName.SEC_WEBSOCKET_ACCEPT, "another hop's");
        fields.add(FieldName.CONTENT_LENGTH, "0");
        client.last().stream.head(new ResponseHead(200, null, fields, 0), false);
        client.last().stream.flush();
        assertEquals(
                "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Protocol: wamp\r\nUpgrade: websocket\r\n"
                        + "Sec-WebSocket-Accept: " + ACCEPT + "\r\nConnection: Upgrade\r\n\r\n",
                client.sent());
        client.send("up");
        assertEquals("up", client.last().body.toString());
        client.last().stream.data(Buffers.of("down"), false);
        client.last().stream.flush();
        assertEquals("down", client.sent());
    }

    @Test
    void bytesThatFollowTheHandshakeWaitForTheTunnel() {
        asked(HANDSHAKE + "early");
        assertEquals("", client.last().body.toString());
        client.last().stream.head(new ResponseHead(200, null, new Fields(), -1), false);
        assertEquals("early", client.last().body.toString());
        client.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        assertTrue(client.last().complete);
    }

    @Test
    void aCoreThatAnswersBeforeItReturnsGetsTheBytesThatFollow() {
        client.onEveryRequest = received -> received.stream.head(new ResponseHead(200, null, new Fields(), -1), false);
        client.send(HANDSHAKE + "early");
        assertEquals("early", client.last().body.toString());
        assertTrue(client.sent().startsWith("HTTP/1.1 101 "));
    }

    @Test
    void anyOtherAnswerIsAnOrdinaryOneAndTheConnectionGoesOn() {
        asked(HANDSHAKE);
        answer(426, "no", "Sec-WebSocket-Version", "13");
        assertEquals(
                "HTTP/1.1 426 Upgrade Required\r\nSec-WebSocket-Version: 13\r\nContent-Length: 2\r\n\r\nno",
                client.sent());
        client.answer = Downstream::echo;
        client.send(GET);
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", client.sent());
    }

    /** Whatever the connection does next, RFC 9110, section 7.8, wants {@code Connection} to name {@code Upgrade}. */
    @ParameterizedTest
    @CsvSource({
        "GET /a HTTP/1.1, Connection: Upgrade",
        "GET http://a.test/a HTTP/1.1, 'Connection: keep-alive, Upgrade'",
        "GET /a HTTP/1.1|Connection: close, 'Connection: close, Upgrade'"
    })
    void aDemandForAnUpgradeNamesItInConnection(String request, String connection) {
        asked(request.replace("|", "\r\n") + "\r\nHost: a.test\r\n\r\n");
        answer(426, "no", "Upgrade", "TLS/1.2, HTTP/1.1");
        assertEquals(
                "HTTP/1.1 426 Upgrade Required\r\nUpgrade: TLS/1.2, HTTP/1.1\r\nContent-Length: 2\r\n" + connection
                        + "\r\n\r\nno",
                client.sent());
    }

    @Test
    void bytesSentInHopeOfATunnelAreNoRequest() {
        asked(HANDSHAKE + GET);
        answer(403, "no");
        assertFalse(client.channel.isOpen());
        assertEquals(1, client.requests.size());
    }

    @Test
    void aRefusedUpgradeIsAnOrdinaryGetThatOthersMayFollow() {
        RequestHead head = asked(HANDSHAKE + GET);
        assertTrue(head.refuseUpgrade());
        answer(200, "page");
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage", client.sent());
        assertEquals(2, client.requests.size());
        assertTrue(client.last().complete);
    }

    @Test
    void anotherTokenIsHandedOnAsItWasWrittenWithoutAKey() {
        RequestHead head = asked("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n");
        assertEquals("SPDY/3.1", String.valueOf(head.protocol()));
        client.last().stream.head(new ResponseHead(200, null, new Fields(), -1), false);
        client.last().stream.flush();
        assertEquals(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n", client.sent());
    }

    private static String wishes(RequestHead head) {
        UpgradeWish wish = head.wish();
        return wish == null ? "" : wish.text().toString();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST | Content-Length: 0                | ''                        | ''",
                "POST | Content-Length: 29               | {Detach:false,Tty:false,abc:1} | ''",
                "POST | Transfer-Encoding: chunked       | ''                        | ''",
                "PUT  | X: y                             | ''                        | ''",
                "OPTIONS | X: y                          | ''                        | early",
                "HEAD | X: y                             | ''                        | early",
                "GET  | Content-Length: 29               | {Detach:false,Tty:false,abc:1} | early",
            })
    void anyMethodMayWishForAnotherProtocolAlsoWithABody(String method, String framing, String body, String early) {
        client.answer = received -> {};
        String content = framing.contains("29") ? body.substring(0, 29) : body;
        boolean chunked = framing.contains("chunked");
        client.send(method + " /exec HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n" + framing
                + "\r\n\r\n" + (chunked ? "4\r\nbody\r\n" : content));
        client.send(chunked ? "0\r\n\r\n" + early : early);
        Downstream.Received received = client.last();
        RequestHead head = Objects.requireNonNull(received.head);
        assertEquals("tcp", wishes(head));
        assertEquals(Method.of(method), head.method());
        assertEquals(
                chunked ? "4\r\nbody".substring(3) : content,
                received.body.toString().strip());
        assertTrue(received.complete);

        received.complete = false;
        received.body.setLength(0);
        head.switchTo(new AsciiString("tcp"));
        received.stream.head(new ResponseHead(200, null, new Fields(), -1), false);
        received.stream.flush();
        assertEquals("HTTP/1.1 101 Switching Protocols\r\nUpgrade: tcp\r\nConnection: Upgrade\r\n\r\n", client.sent());
        client.send("up");
        assertEquals(early + "up", received.body.toString());
        received.stream.data(Buffers.of("down"), false);
        received.stream.flush();
        assertEquals("down", client.sent());
        client.fin();
        assertTrue(received.complete);
        received.stream.data(Buffers.of("more"), true); // the other direction goes on
        assertEquals("more", client.sent());
    }

    @Test
    void aListOfProtocolsKeepsTheClientsOrder() {
        RequestHead head = asked("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket, bad[, foo\r\n"
                + "Upgrade: TCP\r\n\r\n");
        assertEquals("foo, TCP", wishes(head)); // websocket is left out, as the request has no key
        assertTrue(client.last().complete);
    }

    @Test
    void bytesAfterAWishThatIsNotGrantedAreNoRequest() {
        asked("POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n" + GET);
        answer(200, "page");
        assertFalse(client.channel.isOpen());
        assertEquals(1, client.requests.size());
    }

    @Test
    void aWishThatTheCoreDropsLeavesAnOrdinaryRequest() {
        RequestHead head = asked(
                "POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n" + GET);
        head.wishFor(null);
        answer(200, "page");
        assertEquals(2, client.requests.size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nSec-WebSocket-Key: " + KEY + "\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nSec-WebSocket-Key: " + KEY + "\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                        + "Sec-WebSocket-Key: AAAA\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: " + KEY
                        + "\r\nSec-WebSocket-Key: " + KEY + "\r\n\r\n",
                "GET / HTTP/1.0\r\nHost: a\r\nConnection: upgrade, keep-alive\r\nUpgrade: websocket\r\n"
                        + "Sec-WebSocket-Key: " + KEY + "\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: foo/\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: foo bar\r\n\r\n",
                "POST / HTTP/1.0\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: foo\r\nContent-Length: 0\r\n\r\n"
            })
    void whatIsNoProperUpgradeIsAnOrdinaryRequest(String request) {
        RequestHead head = asked(request);
        assertFalse(head.isConnect());
        assertNull(head.protocol());
        assertNull(head.wish());
        assertTrue(client.last().complete);
    }

    @Test
    void drainingIsToldToWhatIsOpenAndToWhatStillComes() {
        asked(HANDSHAKE);
        client.connection.drain();
        client.connection.drain();
        assertEquals(1, client.last().drainings);
        client.finish();

        Downstream tunnelled = new Downstream();
        tunnelled.answer = received -> {};
        tunnelled.send(HANDSHAKE);
        tunnelled.last().stream.head(new ResponseHead(200, null, new Fields(), -1), false);
        tunnelled.connection.drain();
        assertEquals(1, tunnelled.last().drainings);
        assertTrue(tunnelled.channel.isOpen());
        tunnelled.finish();

        Downstream late = new Downstream();
        late.connection.drain();
        late.send(HANDSHAKE);
        assertEquals(1, late.last().drainings);
        late.finish();
    }

    // ---- upstream

    private static RequestHead extendedConnect(String protocol) {
        RequestHead head = Upstream.request("GET", -1);
        head.fields().add(FieldName.SEC_WEBSOCKET_VERSION, "13");
        head.upgradeTo(new AsciiString(protocol));
        return head;
    }

    private Upstream.Received open(RequestHead head) {
        Upstream.Received exchange = upstream.open();
        exchange.stream().head(head, false);
        exchange.stream().flush();
        return exchange;
    }

    private String acceptOfWhatWasSent() {
        String sent = upstream.sent();
        Matcher key = Pattern.compile("GET /p\\?q HTTP/1.1\r\nHost: a.test\r\nSec-WebSocket-Version: 13\r\n"
                        + "Upgrade: websocket\r\nSec-WebSocket-Key: (\\S{24})\r\nConnection: Upgrade\r\n\r\n")
                .matcher(sent);
        assertTrue(key.matches(), sent);
        return WebSocketKey.accept(new AsciiString(key.group(1))).toString();
    }

    private static String switching(String accept) {
        return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\n"
                + "Sec-WebSocket-Accept: " + accept + "\r\nSec-WebSocket-Protocol: wamp\r\n\r\n";
    }

    private static Failure failure(Upstream.Received exchange) {
        return Objects.requireNonNull(exchange.reset);
    }

    @Test
    void anExtendedConnectIsAHandshakeOnTheWireAndIts101ASuccess() {
        RequestHead head = extendedConnect("websocket");
        head.fields().add(FieldName.SEC_WEBSOCKET_KEY, "another hop's");
        Upstream.Received exchange = open(head);
        upstream.respond(switching(acceptOfWhatWasSent()) + "first");
        ResponseHead response = exchange.heads.get(0);
        assertEquals(200, response.status());
        assertEquals(
                "Connection: upgrade\nSec-WebSocket-Protocol: wamp\n",
                response.fields().toString());
        assertTunnelAfterFirst(exchange);
    }

    /** The upstream may be silent for long, and then nobody sees that it takes nothing. */
    @Test
    void whatTheUpstreamOfATunnelDoesNotTakeIsChargedToTheClient() {
        LoopBudget direct = new LoopBudget(new MemoryBudget(1 << 20, 1));
        SourceAddress address = SourceAddress.of(null);
        Upstream.Received exchange = open(extendedConnect("websocket"));
        exchange.client = new ConnectionInfo(
                0, "test", HttpVersion.HTTP_1_1, address, address, null, null, new Account(direct, direct));
        upstream.respond(switching(acceptOfWhatWasSent()));
        Blockade blockade = new Blockade(upstream.channel);
        exchange.stream().data(Buffers.of(new byte[6000]), false);
        exchange.stream().flush();
        assertTrue(direct.held() >= 6000);
        blockade.lift();
        assertEquals(0, direct.held());
    }

    /** The bytes behind the 101 have come, bytes go both ways, and the connection is not used again. */
    private void assertTunnelAfterFirst(Upstream.Received exchange) {
        assertEquals("first", exchange.body.toString());
        exchange.stream().data(Buffers.of("up"), false);
        exchange.stream().flush();
        assertEquals("up", upstream.sent());
        upstream.respond("second");
        assertEquals("firstsecond", exchange.body.toString());
        assertEquals(0, upstream.reusable);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Upgrade: websocket;Connection: Upgrade;Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo= | bad_accept",
                "Upgrade: websocket;Connection: Upgrade;Sec-WebSocket-Accept: RIGHT;Sec-WebSocket-Accept: RIGHT | bad_accept",
                "Upgrade: websocket;Connection: Upgrade | upgrade_without_accept",
                "Upgrade: websocket;Sec-WebSocket-Accept: RIGHT | upgrade_without_connection",
                "Connection: Upgrade;Sec-WebSocket-Accept: RIGHT | upgrade_to_nothing",
                "Upgrade: other;Connection: Upgrade;Sec-WebSocket-Accept: RIGHT | bad_upgrade",
                "Upgrade: websocket, other;Connection: Upgrade;Sec-WebSocket-Accept: RIGHT | upgrade_to_several",
            })
    void aSwitchOtherThanAskedForIsAnErrorThatSaysWhy(String fields, String violation) {
        Upstream.Received exchange = open(extendedConnect("websocket"));
        String right = acceptOfWhatWasSent();
        upstream.respond("HTTP/1.1 101 Switching Protocols\r\n"
                + fields.replace("RIGHT", right).replace(";", "\r\n") + "\r\n\r\n");
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, failure(exchange).cause());
        assertTrue(exchange.heads.isEmpty());
        assertEquals("[" + violation + "]", upstream.violations.toString());
        assertFalse(upstream.channel.isOpen());
    }

    /** As nginx and HAProxy read it. */
    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 0", "Content-Length: 3", "Transfer-Encoding: chunked"})
    void fieldsThatFrameABodyMeanNothingInASwitch(String field) {
        Upstream.Received exchange = open(extendedConnect("websocket"));
        upstream.respond("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" + field
                + "\r\nSec-WebSocket-Accept: " + acceptOfWhatWasSent() + "\r\n\r\nfirst");
        assertEquals("Connection: Upgrade\n", exchange.heads.get(0).fields().toString());
        assertEquals("first", exchange.body.toString());
    }

    private static RequestHead wish(String method, long length, String... protocols) {
        RequestHead head = Upstream.request(method, length);
        head.wishFor(new UpgradeWish(
                Stream.of(protocols).map(AsciiString::new).toList(),
                List.of(protocols).contains("h2c") ? new AsciiString("AAMAAABk") : null));
        return head;
    }

    @Test
    void aRequestWithABodyEndsBeforeTheSwitch() {
        RequestHead head = wish("POST", -1, "tcp");
        Upstream.Received exchange = open(head);
        exchange.stream().data(Buffers.of("{}"), true);
        exchange.stream().flush();
        assertEquals(
                "POST /p?q HTTP/1.1\r\nHost: a.test\r\nUpgrade: tcp\r\nTransfer-Encoding: chunked\r\nConnection: Upgrade\r\n"
                        + "\r\n2\r\n{}\r\n0\r\n\r\n",
                upstream.sent());
        upstream.respond(
                "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\n"
                        + "Upgrade: tcp\r\n\r\nfirst");
        assertTrue(head.isConnect());
        assertTrue(head.isSwitched());
        assertEquals(Method.POST, head.routedMethod());
        assertEquals(200, exchange.heads.get(0).status());
        assertTunnelAfterFirst(exchange);
    }

    /** A server that has seen enough of the body may switch before its end, which the wire must have all the same. */
    @Test
    void aSwitchBeforeTheEndOfTheBodyWaitsForIt() {
        Upstream.Received exchange = open(wish("POST", -1, "tcp"));
        exchange.stream().data(Buffers.of("{"), false);
        exchange.stream().flush();
        assertTrue(upstream.sent().endsWith("1\r\n{\r\n"));
        upstream.respond("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nfi");
        upstream.respond("rst");
        assertTrue(exchange.heads.isEmpty());
        exchange.stream().data(Buffers.of("}"), true);
        assertEquals("1\r\n}\r\n0\r\n\r\n", upstream.sent());
        assertEquals(200, exchange.heads.get(0).status());
        assertEquals("first", exchange.body.toString());
        exchange.stream().data(Buffers.of("up"), false);
        exchange.stream().flush();
        assertEquals("up", upstream.sent());
    }

    @Test
    void anExchangeThatEndsWhileASwitchWaitsLeavesNothingBehind() {
        Upstream.Received exchange = open(wish("POST", -1, "tcp"));
        upstream.sent();
        upstream.respond("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nfirst");
        exchange.stream().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        assertTrue(exchange.heads.isEmpty());
        assertFalse(upstream.channel.isOpen());
    }

    @Test
    void aWishThatIsNotGrantedHasAnOrdinaryAnswer() {
        RequestHead head = wish("POST", 2, "tcp");
        Upstream.Received exchange = open(head);
        exchange.stream().data(Buffers.of("{}"), true);
        exchange.stream().flush();
        upstream.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage");
        assertFalse(head.isConnect());
        assertEquals("page", exchange.body.toString());
        assertTrue(exchange.complete);
        assertEquals(1, upstream.reusable);
    }

    @Test
    void oneOfSeveralProtocolsIsGranted() {
        RequestHead head = wish("GET", -1, "foo", "websocket", "TCP");
        Upstream.Received exchange = upstream.open();
        exchange.stream().head(head, true);
        exchange.stream().flush();
        String sent = upstream.sent();
        assertTrue(sent.contains("\r\nUpgrade: foo, websocket, TCP\r\nSec-WebSocket-Key: "), sent);
        assertFalse(head.fields().contains(FieldName.UPGRADE));
        upstream.respond("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
        assertEquals("TCP", String.valueOf(head.protocol()));
        assertEquals(200, exchange.heads.get(0).status());
    }

    @Test
    void theSettingsOfH2cGoWithTheirUpgrade() {
        Upstream.Received exchange = upstream.open();
        RequestHead head = wish("GET", -1, "h2c");
        head.fields().add(FieldName.TE, "trailers");
        exchange.stream().head(head, true);
        exchange.stream().flush();
        assertEquals(
                "GET /p?q HTTP/1.1\r\nHost: a.test\r\nTE: trailers\r\nHTTP2-Settings: AAMAAABk\r\nUpgrade: h2c\r\n"
                        + "Connection: Upgrade, HTTP2-Settings, TE\r\n\r\n",
                upstream.sent());
        assertFalse(head.fields().contains(FieldName.HTTP2_SETTINGS));
    }

    @Test
    void aRefusalIsAnOrdinaryResponseAndTheConnectionIsKept() {
        Upstream.Received exchange = open(extendedConnect("websocket"));
        upstream.respond("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
        assertEquals(403, exchange.heads.get(0).status());
        assertEquals("no", exchange.body.toString());
        assertTrue(exchange.complete);
        assertEquals(1, upstream.reusable);
        exchange.stream().reset(Failure.of(Cause.CLIENT_CLOSED, "not needed"));
        assertTrue(upstream.channel.isOpen());
    }

    @Test
    void anUpstreamThatIgnoresTheUpgradeHasAnsweredTheGet() {
        RequestHead head = extendedConnect("websocket");
        Upstream.Received exchange = open(head);
        upstream.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage");
        assertFalse(head.isConnect());
        assertEquals(Method.GET, head.method());
        assertEquals("page", exchange.body.toString());
        assertTrue(exchange.complete);
        assertEquals(1, upstream.reusable);
    }

    @Test
    void aTunnelThatCannotBeRefusedFailsIfTheUpstreamIgnoresTheUpgrade() {
        RequestHead head = Upstream.request("CONNECT", -1);
        head.setProtocol(new AsciiString("websocket"));
        Upstream.Received exchange = open(head);
        upstream.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage");
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, failure(exchange).cause());
        assertTrue(exchange.heads.isEmpty());
        assertFalse(upstream.channel.isOpen());
    }

    @Test
    void bytesForTheTunnelAreNotSentBeforeThereIsOne() {
        Upstream.Received exchange = open(extendedConnect("websocket"));
        String accept = acceptOfWhatWasSent();
        assertFalse(exchange.stream().isWritable());
        exchange.stream().data(Buffers.of("ear"), false);
        exchange.stream().data(Buffers.of("ly"), false);
        exchange.stream().flush();
        assertEquals("", upstream.sent());
        upstream.respond(switching(accept));
        assertEquals("early", upstream.sent());
        assertEquals(1, exchange.writables);
        assertTrue(exchange.stream().isWritable());
    }

    @Test
    void bytesForATunnelThatIsRefusedAreNoRequest() {
        Upstream.Received exchange = open(extendedConnect("websocket"));
        acceptOfWhatWasSent();
        exchange.stream().data(Buffers.of(GET), false);
        exchange.stream().flush();
        upstream.respond("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
        assertTrue(exchange.complete);
        assertEquals("", upstream.sent());
        assertEquals(1, upstream.reusable);
    }

    @Test
    void aSwitchNobodyAskedForIsAnError() {
        Upstream.Received exchange = upstream.get();
        upstream.sent();
        upstream.respond(switching(ACCEPT));
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, failure(exchange).cause());
        assertEquals("[unexpected_upgrade]", upstream.violations.toString());
    }

    @Test
    void interimResponsesWithoutEndAreAnError() {
        Upstream.Received exchange = upstream.get();
        upstream.respond("HTTP/1.1 102 Processing\r\n\r\n".repeat(ResponseHead.MAX_INTERIM));
        assertNull(exchange.reset);
        upstream.respond("HTTP/1.1 102 Processing\r\n\r\n");
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, failure(exchange).cause());
        assertEquals(ResponseHead.MAX_INTERIM, exchange.heads.size());
    }

    @Test
    void keysDifferAndAreAsTheRfcHasThem() {
        assertEquals(ACCEPT, WebSocketKey.accept(new AsciiString(KEY)).toString());
        AsciiString key = WebSocketKey.next();
        assertTrue(WebSocketKey.isValid(key));
        assertFalse(key.equals(WebSocketKey.next()));
    }
}
