package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.net.TestFin;
import dev.gateway.protocol.http1.Upstream.Received;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.testing.Blockade;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class Http1ClientConnectionTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    private final Upstream upstream = new Upstream();

    @AfterEach
    void releaseEverything() {
        upstream.finish();
        assertEquals(1, upstream.closed);
    }

    private static ByteBuf bytes(String text) {
        return Buffers.of(text);
    }

    private Failure failure(Received exchange) {
        Failure failure = exchange.reset;
        assertNotNull(failure);
        return failure;
    }

    @Test
    void sendsARequestAndIsReusableAfterItsResponse() {
        Received exchange = upstream.get();
        assertEquals("GET /p?q HTTP/1.1\r\nHost: a.test\r\n\r\n", upstream.sent());
        upstream.respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=7, max=9\r\n\r\nok");
        assertEquals("ok", exchange.body.toString());
        assertTrue(exchange.complete);
        assertEquals(1, exchange.readCompletes);
        assertEquals(1, upstream.reusable);
        assertEquals(7000, upstream.keepAliveMillis);
        Received second = upstream.get();
        upstream.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-T: v\r\n\r\n");
        assertEquals("x", second.body.toString());
        Fields trailers = second.trailers;
        assertNotNull(trailers);
        assertEquals("X-T: v\n", trailers.toString());
        assertEquals(2, upstream.reusable);
        assertEquals(-1, upstream.keepAliveMillis);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Negotiate YII=|Server: x|0",
                "ntlm TlRMTVNT|Server: x|0",
                "Basic YTpi|WWW-Authenticate: Basic realm=a, NTLM|0",
                "Basic YTpi|WWW-Authenticate: Negotiate|0",
                "Basic YTpi|WWW-Authenticate: Basic realm=a|1",
            })
    void whatIsAuthenticatedAsAWholeIsNotReused(String authorization, String field, int reusable) {
        Received exchange = upstream.open();
        RequestHead head = Upstream.request("GET", -1);
        head.fields().add(FieldName.AUTHORIZATION, authorization);
        exchange.stream().head(head, true);
        exchange.stream().flush();
        upstream.respond("HTTP/1.1 401 No\r\n" + field + "\r\nContent-Length: 2\r\n\r\nok");
        assertTrue(exchange.complete);
        assertEquals(reusable, upstream.reusable);
    }

    @Test
    void aLoginIsForgottenByNoLaterResponse() {
        upstream.keepsLogin = true;
        upstream.get();
        upstream.respond("HTTP/1.1 401 No\r\nWWW-Authenticate: NTLM\r\nContent-Length: 2\r\n\r\nok");
        assertEquals(1, upstream.reusable);
        assertTrue(upstream.connection.isBound());
        upstream.get();
        upstream.respond(OK);
        assertEquals(2, upstream.reusable);
        assertTrue(upstream.connection.isBound());
        upstream.keepsLogin = false; // its client has gone
        upstream.get();
        upstream.respond(OK);
        assertEquals(2, upstream.reusable);
    }

    /** The client is charged for it, though the connection would take more. */
    @Test
    void whatTheUpstreamDoesNotTakeLingersUntilItHas() {
        Blockade blockade = new Blockade(upstream.channel);
        Received put = upstream.open();
        put.stream().head(Upstream.request("PUT", 10_000), false);
        put.stream().flush();
        assertEquals(0, put.stream().lingering());
        put.stream().data(Buffers.of(new byte[6000]), false);
        put.stream().flush();
        assertTrue(put.stream().isWritable());
        assertTrue(put.stream().lingering() > 6000);
        assertTrue(put.stream().lingering() < 7000);
        assertEquals(0, put.writables);
        blockade.lift();
        assertEquals(1, put.writables);
        assertEquals(0, put.stream().lingering());
        assertEquals(1, put.writables);
    }

    @Test
    void theShortPartsOfABodyAreOneBuffer() {
        Received put = upstream.open();
        put.stream().head(Upstream.request("PUT", -1), false);
        put.stream().data(bytes("abc"), false);
        put.stream().data(bytes("de"), true);
        put.stream().flush();
        assertEquals(2, upstream.channel.outboundMessages().size());
        assertTrue(upstream.sent().endsWith("\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
    }

    @Test
    void whatWasNotFlushedOfARequestComesAheadOfTheNextOne() {
        Received put = upstream.open();
        put.stream().head(Upstream.request("PUT", 5), false);
        put.stream().flush();
        upstream.sent();
        put.stream().data(bytes("abcde"), true);
        upstream.respond(OK);
        assertEquals(1, upstream.reusable);
        upstream.get();
        assertTrue(upstream.sent().startsWith("abcdeGET "));
    }

    @Test
    void framesRequestsWithAndWithoutABody() {
        Received post = upstream.open();
        post.stream().head(Upstream.request("POST", -1), true);
        post.stream().flush();
        assertEquals("POST /p?q HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n", upstream.sent());
        upstream.respond(OK);
        Received put = upstream.open();
        put.stream().head(Upstream.request("PUT", 3), false);
        put.stream().data(bytes("abc"), true);
        put.stream().flush();
        assertEquals("PUT /p?q HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc", upstream.sent());
        upstream.respond(OK);
        Received chunked = upstream.open();
        RequestHead head = Upstream.request("PUT", -1);
        head.fields().add(FieldName.TE, "trailers");
        chunked.stream().head(head, false);
        chunked.stream().data(bytes("abc"), false);
        Fields trailers = new Fields();
        trailers.add(FieldName.of("X-T"), "v");
        chunked.stream().trailers(trailers);
        chunked.stream().flush();
        String body = "3\r\nabc\r\n0\r\nX-T: v\r\n\r\n";
        assertEquals(
                "PUT /p?q HTTP/1.1\r\nHost: a.test\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\nConnection: TE\r\n\r\n"
                        + body,
                upstream.sent());
        upstream.respond(OK);
        assertEquals(3, upstream.reusable);
    }

    @Test
    void relaysInterimHeads() {
        Received exchange = upstream.get();
        upstream.respond("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK);
        assertEquals(3, exchange.heads.size());
        assertEquals(103, exchange.heads.get(1).status());
        assertTrue(exchange.complete);
    }

    /** Who forgets a key of the upstream reads which one. */
    @ParameterizedTest
    @CsvSource({
        "'\0\0\6\4\0\0\0\0\0\0\3\0\0\0d', protocol: h2c",
        "'\25\3\3\0\2\2\106', the upstream may need",
        "'SSH-2.0-x\r\n', a greeting of SSH",
        "'220 ready\r\n', 'as of SMTP or FTP'",
        "'+OK ready\r\n', the answer does not begin as HTTP/1 does",
    })
    void whatIsNoResponseIsNamed(String bytes, String hint) {
        Received exchange = upstream.get();
        upstream.respond(bytes);
        assertTrue(failure(exchange).detail().contains(hint), failure(exchange).detail());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 2,3\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
                "HTTP/1.1 200 OK\r\n folded\r\n\r\n",
                "\nHTTP/1.1 200 OK\nContent-Length: 2\n\n",
                "HTTP/1.1 2000 OK\r\n\r\n",
                "HTTP/.9 200 OK\r\n\r\n",
                "HTTP/1.1 101 Switching Protocols\r\n\r\n",
                "\r\nHTTP/1.1 200 OK\r\n\r\n",
                "SSH-2.0-x\r\n\r\n",
                "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
                "HTTP/1.1 200 OK\r\nA: \0b\r\n\r\n"
            })
    void refusesAMalformedResponse(String response) {
        Received exchange = upstream.get();
        upstream.respond(response);
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, failure(exchange).cause());
        assertTrue(exchange.heads.isEmpty());
        assertFalse(upstream.channel.isOpen());
        assertEquals(1, upstream.violations.size());
    }

    @Test
    void knowsWhatMayBeSentAgain() {
        Received unflushed = upstream.open();
        unflushed.stream().head(Upstream.request("POST", -1), true);
        upstream.channel.close();
        assertEquals(Cause.UPSTREAM_RESET_BEFORE_HEADERS, failure(unflushed).cause());
        assertEquals(RetrySafety.ALWAYS, failure(unflushed).retry());
        assertFalse(failure(unflushed).stale());
    }

    @Test
    void callsAKeptConnectionStaleThatClosesInsteadOfAnswering() {
        upstream.get();
        upstream.respond(OK);
        Received exchange = upstream.get();
        upstream.channel.close();
        assertEquals(Cause.UPSTREAM_RESET_BEFORE_HEADERS, failure(exchange).cause());
        assertEquals(RetrySafety.IF_IDEMPOTENT, failure(exchange).retry());
        assertTrue(failure(exchange).stale());
    }

    /** It has the request, and fails in the midst of the answer: nobody closes an idle connection like that. */
    @ParameterizedTest
    @ValueSource(strings = {"H", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 100 Continue\r\n\r\n"})
    void callsAKeptConnectionNotStaleThatClosesAmidTheHead(String begun) {
        upstream.get();
        upstream.respond(OK);
        Received exchange = upstream.get();
        upstream.respond(begun);
        upstream.channel.close();
        assertEquals(Cause.UPSTREAM_RESET_BEFORE_HEADERS, failure(exchange).cause());
        assertEquals(RetrySafety.IF_IDEMPOTENT, failure(exchange).retry());
        assertFalse(failure(exchange).stale());
        assertEquals(0, upstream.stale);
    }

    @Test
    void callsAConnectionStaleThatWasKeptBeforeItsFirstRequest() {
        upstream.connection.keep();
        Received exchange = upstream.get();
        upstream.channel.close();
        assertTrue(failure(exchange).stale());
        assertEquals(1, upstream.stale);
    }

    @Test
    void isNotReusedOnceItIsKnownThatTheUpstreamClosesIt() {
        Received exchange = upstream.get();
        TestFin.isAhead(upstream.channel);
        upstream.respond(OK);
        assertTrue(exchange.complete);
        assertEquals(0, upstream.reusable);
        assertEquals(1, upstream.closed);
    }

    /** The upstream's close_notify may be among it. */
    @Test
    void isReusedOverTlsWhenAllThatCameWithTheResponseHasBeenRead() throws Exception {
        Upstream secured = new Upstream();
        ChannelOutboundHandlerAdapter sends = new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
                ReferenceCountUtil.release(message);
                promise.setSuccess();
            }
        };
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(true);
        secured.channel.pipeline().remove(secured.connection);
        secured.channel.pipeline().addLast(new SslHandler(engine), sends);
        Http1ClientConnection connection = new Http1ClientConnection(
                secured, ConnectionObserver.NONE, secured.clock.timers(), Http1ClientSettings.DEFAULT);
        secured.channel.pipeline().addLast(connection);
        Received exchange = new Received();
        exchange.stream = connection.open(exchange);
        exchange.stream().head(Upstream.request("GET", -1), true);
        ChannelHandlerContext before = secured.channel.pipeline().context(sends);
        before.fireChannelRead(bytes(OK));
        assertTrue(exchange.complete);
        assertEquals(0, secured.reusable);
        before.fireChannelReadComplete();
        assertEquals(1, secured.reusable);
        upstream.get();
        secured.finish();
    }

    @Test
    void reportsABodyCutShort() {
        Received exchange = upstream.get();
        upstream.respond("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok");
        upstream.channel.close();
        assertEquals(Cause.UPSTREAM_RESET_IN_BODY, failure(exchange).cause());
        assertFalse(exchange.complete);
    }

    @Test
    void takesTheConnectionsEndForTheEndOfABodyWithoutLength() {
        Received exchange = upstream.get();
        upstream.respond("HTTP/1.1 200 OK\r\n\r\nall of it");
        upstream.channel.close();
        assertNull(exchange.reset);
        assertTrue(exchange.complete);
        assertEquals("all of it", exchange.body.toString());
        assertEquals(0, upstream.reusable);
    }

    @Test
    void closesWhenBytesComeUnasked() {
        upstream.get();
        upstream.respond(OK);
        upstream.respond("HTTP/1.1 408 Request Timeout\r\n\r\n");
        assertFalse(upstream.channel.isOpen());
        assertEquals("[unsolicited_response]", upstream.violations.toString());
    }

    @Test
    void isNotReusedAfterAResponseThatCameBeforeTheRequestEnded() {
        Received exchange = upstream.open();
        exchange.stream().head(Upstream.request("PUT", 5), false);
        exchange.stream().data(bytes("ab"), false);
        exchange.stream().flush();
        upstream.respond("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
        assertTrue(exchange.complete);
        assertEquals(0, upstream.reusable);
        exchange.stream().data(bytes("cde"), true);
        assertEquals(0, upstream.reusable);
        assertFalse(upstream.channel.isOpen());
        assertNull(exchange.reset);
    }

    @Test
    void readsOnForTheNextRequestWhateverTheLastOneLeftUnconsumed() {
        Received exchange = upstream.get();
        exchange.consuming = false;
        upstream.respond("HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n" + "x".repeat(300_000));
        assertFalse(upstream.channel.config().isAutoRead());
        upstream.respond("x".repeat(100_000));
        assertTrue(upstream.channel.config().isAutoRead());
        assertEquals(1, upstream.reusable);
    }

    @Test
    void takesNoResponseForARequestThatIsNotSentYet() {
        upstream.get();
        upstream.respond(OK);
        Received exchange = upstream.open();
        exchange.stream().head(Upstream.request("POST", -1), true);
        upstream.respond("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison");
        assertTrue(exchange.heads.isEmpty());
        assertEquals(RetrySafety.ALWAYS, failure(exchange).retry());
        assertTrue(failure(exchange).stale());
        assertEquals("[unsolicited_response]", upstream.violations.toString());
        assertFalse(upstream.channel.isOpen());
    }

    @Test
    void tellsThatItTakesBytesAgainAlsoAfterTheLastOfTheRequest() {
        AtomicBoolean blocked = new AtomicBoolean(true);
        upstream.channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {
                if (!blocked.get()) {
                    ctx.flush();
                }
            }
        });
        Received received = upstream.open();
        received.stream().head(Upstream.request("POST", 200_000), false);
        received.stream().data(Buffers.of(new byte[200_000]), true);
        assertFalse(received.stream().isWritable());
        assertEquals(0, received.writables);
        blocked.set(false);
        upstream.channel.flush();
        assertEquals(1, received.writables);
    }
}
