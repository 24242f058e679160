package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.protocol.http1.Upstream.Received;
import dev.gateway.stream.Cause;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.HalfClosableChannel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How an upstream connection ends, and what its exchange and its pool are told. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class Http1ClientEndTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    private static final Failure ENDED = Failure.of(Cause.ADMIN_CLOSED, "ended by the test");
    private final Upstream upstream = new Upstream();

    @AfterEach
    void releaseEverything() {
        upstream.finish();
        assertEquals(1, upstream.closed);
    }

    private static Failure failure(Received exchange) {
        Failure failure = exchange.reset;
        assertNotNull(failure);
        return failure;
    }

    private void fin() {
        upstream.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        upstream.channel.runPendingTasks();
    }

    private Received put(long length, String data) {
        Received exchange = upstream.open();
        exchange.stream().head(Upstream.request("PUT", length), false);
        exchange.stream().data(Buffers.of(data), false);
        exchange.stream().flush();
        return exchange;
    }

    // ---- from our side

    @Test
    void takesOneExchangeAtATimeAndNoneOnceClosed() {
        assertTrue(upstream.connection.isIdle());
        Received exchange = upstream.get();
        assertFalse(upstream.connection.isIdle());
        assertThrows(IllegalStateException.class, upstream::open);
        upstream.respond(OK);
        assertTrue(exchange.complete);
        assertTrue(upstream.connection.isIdle());
        upstream.connection.close();
        assertFalse(upstream.connection.isIdle());
        assertThrows(IllegalStateException.class, upstream::open);
        assertFalse(upstream.channel.isOpen());
    }

    @Test
    void anExchangeIsToldWhyItIsEnded() {
        Received exchange = upstream.get();
        upstream.connection.end(ENDED);
        assertEquals(ENDED, exchange.reset);
        assertFalse(upstream.channel.isOpen());
        assertEquals(CloseCause.REQUEST, upstream.connection.closeCause());
        assertEquals(0, upstream.stale);
    }

    @Test
    void anIdleConnectionIsEndedWithoutAWord() {
        Received exchange = upstream.get();
        upstream.respond(OK);
        upstream.connection.end(ENDED);
        assertNull(exchange.reset);
        assertFalse(upstream.channel.isOpen());
        assertEquals(1, upstream.closed);
    }

    @Test
    void aCoreThatHasItsAnswerIsNotToldThatItsRequestEnded() {
        Received exchange = put(5, "ab");
        upstream.respond(OK);
        assertTrue(exchange.complete);
        upstream.connection.end(ENDED);
        assertNull(exchange.reset);
        assertFalse(upstream.channel.isOpen());
    }

    @Test
    void aResetEndsTheConnectionAndNobodyIsTold() {
        Received exchange = upstream.get();
        exchange.stream().reset(ENDED);
        assertNull(exchange.reset);
        assertFalse(upstream.channel.isOpen());
        assertEquals(CloseCause.REQUEST, upstream.connection.closeCause());
        assertEquals(1, upstream.closed);
        exchange.stream().head(Upstream.request("GET", -1), true);
        exchange.stream().data(Buffers.of("late"), true);
        exchange.stream().consumed(5);
        assertEquals(0, upstream.stale);
    }

    @Test
    void anExchangeThatHasEndedHasNoSayInTheNext() {
        Received first = upstream.get();
        first.consuming = false;
        upstream.respond(OK);
        Received second = upstream.get();
        second.consuming = false;
        upstream.respond("HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n" + "x".repeat(300_000));
        assertFalse(upstream.channel.config().isAutoRead());
        first.stream().consumed(300_000);
        assertFalse(upstream.channel.config().isAutoRead());
        first.stream().data(Buffers.of("late"), true);
        first.stream().trailers(new Fields());
        first.stream().reset(ENDED);
        assertTrue(upstream.channel.isOpen());
        second.stream().consumed(300_000);
        assertTrue(upstream.channel.config().isAutoRead());
    }

    @Test
    void aBodyOtherThanAnnouncedEndsTheExchange() {
        Received exchange = put(5, "abc");
        upstream.sent();
        exchange.stream().data(Buffers.of("def"), true);
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, failure(exchange).cause());
        assertEquals("", upstream.sent());
        assertFalse(upstream.channel.isOpen());
    }

    @Test
    void muchIsSentThoughNobodyFlushesIt() {
        Received exchange = upstream.open();
        exchange.stream().head(Upstream.request("PUT", 200_000), false);
        exchange.stream().data(Buffers.of(new byte[1000]), false);
        assertEquals("", upstream.sent());
        exchange.stream().data(Buffers.of(new byte[100_000]), false);
        assertTrue(upstream.sent().length() > 101_000);
        assertTrue(exchange.stream().isWritable());
    }

    @Test
    void aRequestThatIsNotFlushedIsNoLeakWhenTheConnectionCloses() {
        Received exchange = upstream.open();
        exchange.stream().head(Upstream.request("PUT", -1), false);
        exchange.stream().data(Buffers.of("abc"), false);
        upstream.connection.close();
        assertEquals(Cause.UPSTREAM_RESET_BEFORE_HEADERS, failure(exchange).cause());
        assertEquals("", upstream.sent());
    }

    @Test
    void aTunnelIsEndedOnce() {
        Received exchange = upstream.open();
        exchange.stream().head(Upstream.request("CONNECT", -1), false);
        exchange.stream().flush();
        upstream.respond("HTTP/1.1 200 OK\r\n\r\n");
        assertEquals(200, exchange.heads.get(0).status());
        assertFalse(upstream.connection.isIdle());
        upstream.connection.end(ENDED);
        assertEquals(Cause.UPSTREAM_RESET_IN_BODY, failure(exchange).cause());
        assertEquals(CloseCause.TUNNEL, upstream.connection.closeCause());
        assertEquals(1, upstream.closed);
    }

    @Test
    void bytesForATunnelThatNeverOpensAreReleased() {
        for (boolean ours : new boolean[] {true, false}) {
            Upstream refusing = new Upstream();
            Received exchange = refusing.open();
            exchange.stream().head(Upstream.request("CONNECT", -1), false);
            ByteBuf early = Buffers.of("early");
            exchange.stream().data(early, false);
            exchange.stream().flush();
            if (ours) {
                exchange.stream().reset(ENDED);
            } else {
                refusing.channel.close();
            }
            assertEquals(0, early.refCnt());
            refusing.finish();
        }
        upstream.get();
    }

    @Test
    void bytesForATunnelThatIsNotOpenWaitHere() {
        Received exchange = upstream.open();
        exchange.stream().head(Upstream.request("CONNECT", -1), false);
        exchange.stream().flush();
        long before = exchange.stream().unsent();
        exchange.stream().data(Buffers.of(new byte[1000]), false);
        exchange.stream().data(Buffers.of(new byte[500]), false);
        assertEquals(before + 1500, exchange.stream().unsent());
        upstream.sent();
        upstream.respond("HTTP/1.1 200 OK\r\n\r\n");
        assertEquals(0, exchange.stream().unsent());
        assertEquals(1500, upstream.sent().length());
    }

    @Test
    void theEndOfWhatWasSentAheadIsThatOfItsDirection() {
        HalfClosableChannel channel = new HalfClosableChannel();
        Upstream tunnelling = new Upstream(Http1ClientSettings.DEFAULT, channel);
        Received exchange = tunnelling.open();
        exchange.stream().head(Upstream.request("CONNECT", -1), false);
        exchange.stream().data(Buffers.of("ear"), false);
        exchange.stream().data(Buffers.of("ly"), true);
        exchange.stream().flush();
        assertFalse(channel.isOutputShutdown());
        assertTrue(tunnelling.sent().endsWith("\r\n\r\n"));
        tunnelling.respond("HTTP/1.1 200 OK\r\n\r\n");
        assertEquals("early", tunnelling.sent());
        assertTrue(channel.isOutputShutdown());
        assertTrue(channel.isOpen());
        tunnelling.finish();
        upstream.get();
    }

    @Test
    void aBodyThatIsKnownToBeEmptyHasALength() {
        Received exchange = upstream.open();
        exchange.stream().head(Upstream.request("PUT", 0), false);
        exchange.stream().data(Buffers.of(""), true);
        exchange.stream().flush();
        assertEquals("PUT /p?q HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n", upstream.sent());
        upstream.respond(OK);
        assertEquals(1, upstream.reusable);
    }

    /** What the upstream still says may be why it does not want the request. */
    @Test
    void aFailedWriteDoesNotCloseTheChannelByItself() {
        assertFalse(upstream.channel.config().isAutoClose());
        assertNull(upstream.get().reset);
    }

    // ---- from the upstream's

    @Test
    void aFinInsteadOfAResponseIsAReset() {
        Received exchange = upstream.get();
        fin();
        assertEquals(Cause.UPSTREAM_RESET_BEFORE_HEADERS, failure(exchange).cause());
        assertEquals(RetrySafety.IF_IDEMPOTENT, failure(exchange).retry());
        assertFalse(failure(exchange).stale());
        assertFalse(upstream.channel.isOpen());
    }

    @Test
    void aFinEndsAnIdleConnection() {
        Received exchange = upstream.get();
        upstream.respond(OK);
        fin();
        assertNull(exchange.reset);
        assertFalse(upstream.channel.isOpen());
        assertEquals(CloseCause.ENDPOINT, upstream.connection.closeCause());
        assertEquals(1, upstream.closed);
    }

    @Test
    void aFinIsTheEndOfABodyWithoutALength() {
        Received exchange = upstream.get();
        upstream.respond("HTTP/1.1 200 OK\r\n\r\nall");
        assertEquals(1, exchange.readCompletes);
        fin();
        assertTrue(exchange.complete);
        assertEquals("all", exchange.body.toString());
        assertEquals(2, exchange.readCompletes);
        assertNull(exchange.reset);
        assertFalse(upstream.channel.isOpen());
    }

    /** The core may still be sending, and has nobody to send it to. */
    @Test
    void aFinBehindAnEarlyResponseWaitsForTheRequest() {
        Received exchange = put(5, "ab");
        upstream.respond("HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n");
        fin();
        assertTrue(upstream.channel.isOpen());
        assertNull(exchange.reset);
        exchange.stream().data(Buffers.of("cde"), true);
        assertFalse(upstream.channel.isOpen());
        assertNull(exchange.reset);
    }

    @Test
    void bytesBehindAnEarlyResponseAreAViolation() {
        Received exchange = put(5, "ab");
        upstream.respond("HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n");
        upstream.respond(OK);
        assertEquals("[unsolicited_response]", upstream.violations.toString());
        assertEquals(1, exchange.heads.size());
        assertEquals("", exchange.body.toString());
        assertFalse(upstream.channel.isOpen());
        assertNull(exchange.reset); // it has its answer
    }

    @Test
    void bytesBehindAResponseAreAViolation() {
        Received exchange = upstream.get();
        upstream.respond(OK + "more");
        assertEquals("ok", exchange.body.toString());
        assertTrue(exchange.complete);
        assertEquals("[unsolicited_response]", upstream.violations.toString());
        assertEquals(0, upstream.reusable);
        assertFalse(upstream.channel.isOpen());
    }

    // ---- from the socket

    @Test
    void socketErrorsAreCounted() {
        Received exchange = upstream.get();
        upstream.channel.pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
        assertEquals(Cause.UPSTREAM_RESET_BEFORE_HEADERS, failure(exchange).cause());
        assertEquals("the connection to the upstream failed", failure(exchange).detail());
        assertEquals(1, upstream.socketErrors);
        assertFalse(upstream.channel.isOpen());
    }

    /** TLS may take a while to say goodbye. */
    @Test
    void aSocketThatFailsWhileItIsBeingClosedIsNotCounted() {
        List<ChannelPromise> closing = new ArrayList<>();
        ChannelOutboundHandlerAdapter slow = new ChannelOutboundHandlerAdapter() {
            @Override
            public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                closing.add(promise);
            }
        };
        upstream.channel.pipeline().addFirst(slow);
        Received exchange = upstream.get();
        exchange.stream().reset(ENDED);
        upstream.respond(OK);
        upstream.channel.pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
        assertEquals(0, upstream.socketErrors);
        assertEquals(1, upstream.closed);
        assertNull(exchange.reset);
        assertEquals(List.of(), exchange.heads);
        assertFalse(closing.isEmpty());
        upstream.channel.pipeline().remove(slow);
    }

    @Test
    void soAreTlsErrorsOfIdleConnections() {
        upstream.channel.pipeline().fireExceptionCaught(new DecoderException("bad record"));
        assertEquals(1, upstream.socketErrors);
        assertFalse(upstream.channel.isOpen());
    }

    @Test
    void ourOwnErrorsAndWantOfMemoryAreNot() {
        Received exchange = upstream.get();
        upstream.channel.pipeline().fireExceptionCaught(new OutOfMemoryError("made by the test"));
        assertEquals(Cause.UPSTREAM_RESET_BEFORE_HEADERS, failure(exchange).cause());
        assertEquals(0, upstream.socketErrors);
        Upstream other = new Upstream();
        Received asked = other.get();
        other.channel.pipeline().fireExceptionCaught(new IllegalStateException("made by the test"));
        assertEquals(Cause.UPSTREAM_RESET_BEFORE_HEADERS, failure(asked).cause());
        assertEquals(0, other.socketErrors);
        assertFalse(other.channel.isOpen());
        other.finish();
    }

    @Test
    void anAnswerIsReadThoughNothingMoreCanBeSent() {
        Received exchange = put(5, "ab");
        upstream.channel.pipeline().fireExceptionCaught(new ClosedChannelException());
        assertNull(exchange.reset);
        assertTrue(upstream.channel.isOpen());
        upstream.respond(OK);
        assertTrue(exchange.complete);
        assertEquals("ok", exchange.body.toString());
        assertEquals(0, upstream.socketErrors);
    }

    @Test
    void aConnectionThatSendsNothingMoreIsNotUsedAgain() {
        Received exchange = upstream.get();
        upstream.channel.pipeline().fireExceptionCaught(new ClosedChannelException());
        upstream.respond(OK);
        assertTrue(exchange.complete);
        assertEquals(0, upstream.reusable);
        assertFalse(upstream.channel.isOpen());
    }

    /** A reset looks like this, too. */
    @Test
    void aBodyWithoutALengthIsNotWholeIfNothingMoreCouldBeSent() {
        Received exchange = put(5, "ab");
        upstream.respond("HTTP/1.1 200 OK\r\n\r\nall");
        upstream.channel.pipeline().fireExceptionCaught(new ClosedChannelException());
        fin();
        assertFalse(exchange.complete);
        assertEquals(Cause.UPSTREAM_RESET_IN_BODY, failure(exchange).cause());
    }

    @Test
    void anIdleConnectionThatSendsNothingMoreIsClosed() {
        upstream.get();
        upstream.respond(OK);
        upstream.channel.pipeline().fireExceptionCaught(new ClosedChannelException());
        assertFalse(upstream.channel.isOpen());
        assertEquals(1, upstream.closed);
    }

    @Test
    void aRequestWhoseHeadCannotBeSentMayBeSentElsewhere() {
        upstream.channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
                ReferenceCountUtil.release(message);
                promise.setFailure(new IOException("made by the test"));
            }
        });
        Received exchange = upstream.get();
        assertEquals(RetrySafety.ALWAYS, failure(exchange).retry());
        assertEquals("the request could not be sent", failure(exchange).detail());
        assertFalse(upstream.channel.isOpen());
    }

    // ---- what is kept and told

    @Test
    void anIdleConnectionKeepsNothingOfItsLastResponse() {
        Received exchange = upstream.get();
        upstream.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-T: v\r\n\r\n");
        WeakReference<ResponseHead> head = new WeakReference<>(exchange.heads.get(0));
        WeakReference<Fields> trailers = new WeakReference<>(exchange.trailers);
        exchange.heads.clear();
        exchange.trailers = null;
        for (int i = 0; i < 10 && (head.get() != null || trailers.get() != null); i++) {
            System.gc();
        }
        assertNull(head.get());
        assertNull(trailers.get());
        assertTrue(upstream.channel.isOpen());
    }

    @Test
    void aCoreIsToldOnceForAllThatWasReadTogether() {
        Received exchange = upstream.get();
        upstream.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n1\r\ny\r\n");
        assertEquals(1, exchange.readCompletes);
        upstream.respond("1\r");
        assertEquals(1, exchange.readCompletes); // nothing was handed on
        upstream.respond("\nz\r\n");
        assertEquals(2, exchange.readCompletes);
        upstream.respond("0\r\n\r\n");
        assertEquals(3, exchange.readCompletes);
        assertEquals("xyz", exchange.body.toString());
    }

    @Test
    void aCoreThatSendsTheSameRequestToAnotherUpstreamFindsItUnchanged() {
        Received exchange = upstream.open();
        RequestHead head = Upstream.request("PUT", 3);
        head.fields().add(FieldName.of("X-A"), "b");
        exchange.stream().head(head, false);
        exchange.stream().head(Upstream.request("DELETE", -1), true); // a head is sent once
        exchange.stream().data(Buffers.of("abc"), true);
        exchange.stream().flush();
        assertEquals("PUT /p?q HTTP/1.1\r\nHost: a.test\r\nX-A: b\r\nContent-Length: 3\r\n\r\nabc", upstream.sent());
        assertEquals("X-A: b\n", head.fields().toString());
    }
}
