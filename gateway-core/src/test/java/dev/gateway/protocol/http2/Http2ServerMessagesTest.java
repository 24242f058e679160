package dev.gateway.protocol.http2;

import static dev.gateway.protocol.http2.Frames.block;
import static dev.gateway.protocol.http2.Frames.frame;
import static dev.gateway.protocol.http2.Frames.get;
import static dev.gateway.protocol.http2.Frames.number;
import static dev.gateway.protocol.http2.Frames.post;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.protocol.http2.Frames.Frame;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client may and may not send, frame by frame (RFC 9113, sections 5 to 8). */
class Http2ServerMessagesTest {
    private static final int NO_ERROR = 0;
    private static final int PROTOCOL_ERROR = 1;
    private static final int REFUSED_STREAM = 7;
    private static final int CANCEL = 8;
    private static final int INITIAL_WINDOW_SIZE = 4;
    private static final int DEFAULT_WINDOW = 65_535;
    private static final int END = Frames.END_STREAM | Frames.END_HEADERS;

    private RawClient client = new RawClient();

    @AfterEach
    void nothingIsLeft() {
        client.close();
        assertEquals(client.counts.opened, client.counts.closed);
    }

    private void with(int maxStreams) {
        client.close();
        client = new RawClient(new Http2ServerSettings(
                Http2ServerSettings.Streams.DEFAULT.withMaxConcurrent(maxStreams),
                new Http2ServerSettings.Heads(16 * 1024, 50),
                new ConnectionTimeouts(0, 30_000, 0, 60_000, 0)));
    }

    private void request(byte[] block) {
        client.send(Frames.HEADERS, END, 1, block);
    }

    /** Each case is the header list, fields separated by '|', names and values by '~'. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                ":method~GET|:scheme~http|:path~/|:authority~a|X-Upper~1",
                ":method~GET|:scheme~http|:path~/|:authority~a|x y~1",
                ":method~GET|:scheme~http|:path~/|:authority~a|~1",
                ":method~GET|:scheme~http|:path~/|:authority~a|x~a\rb",
                ":method~GET|:scheme~http|:path~/|:authority~a|x~a\nb",
                ":method~GET|:scheme~http|:path~/|:authority~a|x~a\u0000b",
                ":method~GET|:scheme~http|:path~/ |:authority~a",
                ":method~GET|:scheme~http|:path~/|:authority~\ta",
                ":method~GET|:scheme~http|:path~/|:authority~a|x~ \u0000",
                ":method~GET|:scheme~http|:path~/|:authority~a|connection~close",
                ":method~GET|:scheme~http|:path~/|:authority~a|transfer-encoding~chunked",
                ":method~GET|:scheme~http|:path~/|:authority~a|upgrade~h2c",
                ":method~GET|:scheme~http|:path~/|:authority~a|keep-alive~1",
                ":method~GET|:scheme~http|:path~/|:authority~a|proxy-connection~1",
                ":method~GET|:scheme~http|:path~/|:authority~a|te~gzip",
                ":method~GET|:scheme~http|:path~/|:authority~a|te~trailers, gzip",
                ":method~GET|:scheme~http|:path~/|:authority~a|:unknown~1",
                ":method~GET|:scheme~http|:path~/|:authority~a|:status~200",
                ":method~GET|:method~GET|:scheme~http|:path~/|:authority~a",
                ":method~GET|:scheme~http|:path~/|:path~/|:authority~a",
                ":method~GET|:scheme~http|x~1|:path~/|:authority~a",
                ":scheme~http|:path~/|:authority~a",
                ":method~GET|:path~/|:authority~a",
                ":method~GET|:scheme~http|:authority~a",
                ":method~GET|:scheme~http|:path~|:authority~a",
                ":method~GET|:scheme~ftp|:path~/|:authority~a",
                ":method~G T|:scheme~http|:path~/|:authority~a",
                ":method~GET|:scheme~http|:path~/",
                ":method~GET|:scheme~http|:path~/|:authority~",
                ":method~GET|:scheme~http|:path~/|:authority~a|host~b",
                ":method~GET|:scheme~http|:path~/|host~a|host~a",
                ":method~GET|:scheme~http|:path~/|:authority~a|content-length~1",
                ":method~GET|:scheme~http|:path~/|:authority~a|content-length~0|content-length~0",
                ":method~GET|:scheme~http|:path~/|:authority~a|content-length~-1",
                ":method~GET|:scheme~http|:path~/|:authority~a|content-length~1, 1",
                ":method~GET|:scheme~http|:path~/|:authority~a|content-length~9999999999999999999",
                ":method~CONNECT",
                ":method~CONNECT|:scheme~http|:path~/|:authority~a:1",
                ":method~CONNECT|:protocol~web socket|:scheme~http|:path~/|:authority~a",
                ":method~CONNECT|:protocol~websocket|:authority~a:1",
                ":method~GET|:protocol~websocket|:scheme~http|:path~/|:authority~a"
            })
    void aMalformedRequestIsAccountedForAndItsStreamReset(String list) {
        request(block(list.replace("|", "~").split("~", -1)));
        assertEquals(PROTOCOL_ERROR, client.reset(1));
        assertEquals(0, client.recorder.requests.size());
        assertEquals(Cause.CLIENT_PROTOCOL_ERROR, client.recorder.refused.get(0).cause());
        assertNull(client.first(Frames.HEADERS, 1));
        assertTrue(client.channel.isOpen());
        client.send(Frames.HEADERS, END, 3, get());
        assertEquals(1, client.recorder.requests.size());
    }

    @Test
    void hostStandsInForAuthority() {
        request(block(":method", "GET", ":scheme", "http", ":path", "/", "host", "example.org"));
        assertEquals("example.org", client.request(0).request().authority().toString());
        client.send(Frames.HEADERS, END, 3, get("host", "EXAMPLE.org", "te", "trailers"));
        assertEquals("te: trailers\n", client.request(1).request().fields().toString());
    }

    @Test
    void whiteSpaceAroundAValueIsCutOff() {
        request(get("x", " a b\t", "y", " \t ", "cookie", "c=d ", "te", "trailers "));
        assertEquals(
                "x: a b\ny: \nte: trailers\ncookie: c=d\n",
                client.request(0).request().fields().toString());
    }

    @Test
    void cookieCrumbsAreOneFieldAgain() {
        request(get("cookie", "a=b", "x", "y", "cookie", "c=d", "cookie", "e=f"));
        assertEquals(
                "x: y\ncookie: a=b; c=d; e=f\n",
                client.request(0).request().fields().toString());
    }

    /** A value must not end in white space, as one does that ends in the space between two crumbs. */
    @Test
    void emptyCookieCrumbsAddNothing() {
        request(get("cookie", "", "cookie", "a=b", "cookie", "", "cookie", "c=d", "cookie", ""));
        assertEquals("cookie: a=b; c=d\n", client.request(0).request().fields().toString());
    }

    @Test
    void manyCookieCrumbsCostNoMoreThanTheirSize() {
        with(100);
        String[] crumbs = new String[2 * 300];
        for (int i = 0; i < crumbs.length; i += 2) {
            crumbs[i] = "cookie";
            crumbs[i + 1] = "c" + i / 2;
        }
        request(get(crumbs));
        String cookie = client.request(0).request().fields().toString();
        assertTrue(cookie.startsWith("cookie: c0; c1; c2; "), cookie);
        assertTrue(cookie.endsWith("; c298; c299\n"), cookie);

        byte[] block = get(crumbs);
        ReceivedHeaders headers = new ReceivedHeaders(100, true);
        AsciiString crumb = new AsciiString("0123456789");
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 1_300; i++) { // as many as a list of 64 KiB may have
            headers.add(FieldName.COOKIE.lower(), crumb);
        }
        assertEquals(1, headers.fields().size());
        assertTrue(threads.getCurrentThreadAllocatedBytes() - before < 1_000_000);
        assertTrue(block.length < 16_384);
    }

    @Test
    void tooLargeAHeadFollowedAtOnceByASmallOneIsAnswered431() {
        with(100);
        byte[] block = get("x", "y".repeat(16 * 1024));
        client.send(
                frame(Frames.HEADERS, Frames.END_STREAM, 1, Arrays.copyOf(block, 16_000)),
                frame(Frames.CONTINUATION, Frames.END_HEADERS, 1, Arrays.copyOfRange(block, 16_000, block.length)),
                frame(Frames.HEADERS, END, 3, get()));
        assertEquals(431, client.recorder.refused.get(0).status());
        assertNull(client.first(Frames.GOAWAY, 0));
        assertEquals(1, client.recorder.requests.size());
    }

    @Test
    void tooManyTrailersResetTheStream() {
        with(100);
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        String[] many = new String[200];
        Arrays.fill(many, "a");
        client.send(Frames.HEADERS, END, 1, block(many));
        assertEquals(PROTOCOL_ERROR, client.reset(1));
        assertNull(client.request(0).trailers);
    }

    @Test
    void anEnormousWindowLetsNoMoreWaitForAFlush() {
        client.send(
                frame(Frames.SETTINGS, 0, 0, (byte) 0, (byte) 4, (byte) 127, (byte) -1, (byte) -1, (byte) -1),
                frame(Frames.WINDOW_UPDATE, 0, 0, number(Integer.MAX_VALUE - 65_535)));
        request(get());
        Pair.Exchange exchange = client.request(0);
        exchange.server().head(Http2ConnectionsTest.response(200), false);
        int chunks = 0;
        while (exchange.server().isWritable() && chunks < 1_000) {
            exchange.server().data(Buffers.of(new byte[16 * 1024]), false);
            chunks++;
        }
        assertEquals(4, chunks);
        exchange.server().flush();
        client.collect();
        assertEquals(1, exchange.writable);
        assertTrue(exchange.server().isWritable());
        assertEquals(
                4 * 16 * 1024,
                client.all(Frames.DATA, 1).stream()
                        .mapToInt(frame -> frame.payload().readableBytes())
                        .sum());
    }

    @Test
    void theConnectionSaysTheScheme() {
        request(block(":method", "GET", ":scheme", "https", ":path", "/", ":authority", "a"));
        assertEquals("http", client.request(0).request().scheme().toString());
    }

    @Test
    void aBodyLongerOrShorterThanAnnouncedResetsTheStream() {
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post("content-length", "3"));
        client.send(Frames.DATA, 0, 1, new byte[4]);
        assertEquals(PROTOCOL_ERROR, client.reset(1));
        assertEquals(Cause.CLIENT_PROTOCOL_ERROR, client.request(0).failed().cause());
        client.send(Frames.HEADERS, Frames.END_HEADERS, 3, post("content-length", "3"));
        client.send(Frames.DATA, Frames.END_STREAM, 3, new byte[2]);
        assertEquals(PROTOCOL_ERROR, client.reset(3));
        client.send(Frames.HEADERS, Frames.END_HEADERS, 5, post("content-length", "3"));
        client.send(Frames.DATA, 0, 5, new byte[2]);
        client.send(Frames.HEADERS, END, 5, block("x", "y"));
        assertEquals(PROTOCOL_ERROR, client.reset(5));
        client.send(Frames.HEADERS, Frames.END_HEADERS, 7, post("content-length", "3"));
        client.send(Frames.DATA, Frames.END_STREAM, 7, new byte[3]);
        assertTrue(client.request(3).ended);
        assertNull(client.request(3).failure);
    }

    @Test
    void trailersWithPseudoHeaderFieldsResetTheStream() {
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.send(Frames.HEADERS, END, 1, block(":path", "/x"));
        assertEquals(PROTOCOL_ERROR, client.reset(1));
        assertNull(client.request(0).trailers);
    }

    @Test
    void tooLargeAHeadIsAnswered431AndTheConnectionGoesOn() {
        with(100);
        byte[] block = get("x", "y".repeat(16 * 1024));
        byte[] start = Arrays.copyOf(block, 16_000);
        client.send(Frames.HEADERS, Frames.END_STREAM, 1, start);
        client.send(Frames.CONTINUATION, Frames.END_HEADERS, 1, Arrays.copyOfRange(block, 16_000, block.length));
        assertEquals(431, client.recorder.refused.get(0).status());
        assertNotNull(client.first(Frames.HEADERS, 1));
        String[] many = new String[200];
        Arrays.fill(many, "a");
        client.send(Frames.HEADERS, END, 3, get(many));
        assertEquals(431, client.recorder.refused.get(1).status());
        assertNotNull(client.first(Frames.HEADERS, 3));
        client.send(Frames.HEADERS, END, 5, get());
        assertEquals(1, client.recorder.requests.size());
    }

    /** The limit is 16 KiB; before our SETTINGS are acknowledged as much is read on as afterwards. */
    @ParameterizedTest
    @ValueSource(ints = {17, 19, 21, 40, 60})
    void tooLargeAHeadBeforeOurSettingsAreAcknowledgedIsAnswered431(int kib) {
        client.close();
        client = new RawClient(
                new Http2ServerSettings(
                        Http2ServerSettings.Streams.DEFAULT.withMaxConcurrent(100),
                        new Http2ServerSettings.Heads(16 * 1024, 50),
                        new ConnectionTimeouts(0, 30_000, 0, 60_000, 0)),
                false);
        client.send(Frames.preface());
        byte[] block = get("x", "\\".repeat(kib * 1024));
        int frame = 16_000;
        client.send(Frames.HEADERS, Frames.END_STREAM, 1, Arrays.copyOf(block, frame));
        for (int at = frame; at < block.length; at += frame) {
            int end = Math.min(block.length, at + frame);
            int flags = end == block.length ? Frames.END_HEADERS : 0;
            client.send(Frames.CONTINUATION, flags, 1, Arrays.copyOfRange(block, at, end));
        }
        assertEquals(431, client.recorder.refused.get(0).status());
        assertNotNull(client.first(Frames.HEADERS, 1));
        client.send(Frames.HEADERS, END, 3, get());
        assertEquals(1, client.recorder.requests.size());
    }

    @Test
    void streamsBeyondTheLimitAreRefusedWithoutHarmToTheRest() {
        with(2);
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.send(Frames.HEADERS, Frames.END_HEADERS, 3, post());
        client.send(Frames.HEADERS, Frames.END_HEADERS, 5, post());
        client.send(Frames.DATA, 0, 5, new byte[10]);
        client.send(Frames.WINDOW_UPDATE, 0, 5, number(1));
        client.send(Frames.RST_STREAM, 0, 5, number(CANCEL));
        assertEquals(REFUSED_STREAM, client.reset(5));
        assertNull(client.first(Frames.GOAWAY, 0));
        client.send(Frames.DATA, Frames.END_STREAM, 1, new byte[10]);
        assertEquals(10, client.request(0).received);
    }

    @Test
    void whatWasOnItsWayWhenWeResetIsNoOffence() {
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.request(0).server().reset(Failure.of(Cause.UPSTREAM_TIMEOUT, ""));
        client.collect();
        for (int i = 0; i < 300; i++) {
            client.send(Frames.DATA, 0, 1, new byte[1000]);
        }
        client.send(Frames.HEADERS, END, 1, block("x", "y"));
        assertEquals(1, client.all(Frames.RST_STREAM, 1).size());
        assertNull(client.first(Frames.GOAWAY, 0));
        assertEquals(0, client.counts.violations.size());
    }

    @Test
    void whatWasOnItsWayForManyRefusedStreamsIsNoOffence() {
        with(1);
        int streams = 100;
        for (int i = 0; i < streams; i++) {
            client.send(Frames.HEADERS, Frames.END_HEADERS, 2 * i + 1, post());
        }
        for (int i = 1; i < streams; i++) {
            assertEquals(REFUSED_STREAM, client.reset(2 * i + 1));
            client.send(Frames.HEADERS, END, 2 * i + 1, block("x", "y"));
        }
        assertNull(client.first(Frames.GOAWAY, 0));
        assertEquals(0, client.counts.violations.size());
    }

    @Test
    void asManyResetsAreRememberedAsThereMayBeStreams() {
        int streams = 600;
        with(streams);
        for (int i = 0; i < streams; i++) {
            client.send(Frames.HEADERS, Frames.END_HEADERS, 2 * i + 1, post());
        }
        for (int i = 0; i < streams; i++) {
            client.request(i).server().reset(Failure.of(Cause.UPSTREAM_TIMEOUT, ""));
        }
        client.collect();
        for (int i = 0; i < streams; i++) {
            client.send(Frames.HEADERS, END, 2 * i + 1, block("x", "y"));
        }
        assertNull(client.first(Frames.GOAWAY, 0));
        assertEquals(0, client.counts.violations.size());
    }

    @Test
    void aBodyThatEndedWithTrailersGetsNoMoreCredit() {
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.request(0).keepCredit = true;
        client.send(Frames.DATA, 0, 1, new byte[16_000]);
        client.send(Frames.DATA, 0, 1, new byte[16_000]);
        client.send(Frames.HEADERS, END, 1, block("x", "y"));
        client.request(0).server().consumed(2 * 16_000);
        client.collect();
        assertTrue(client.all(Frames.WINDOW_UPDATE, 1).isEmpty());
    }

    /** Clients on WebKit, and nginx as an upstream, do not take a field block without a field for the end of a body. */
    @Test
    void trailersWithoutAFieldEndTheBodyAsData() {
        request(get());
        ServerStream stream = client.request(0).server();
        stream.head(Http2ConnectionsTest.response(200), false);
        stream.data(Buffers.of("ok"), false);
        stream.trailers(new Fields());
        stream.flush();
        client.collect();
        assertEquals(1, client.all(Frames.HEADERS, 1).size());
        List<Frame> data = client.all(Frames.DATA, 1);
        assertEquals(Frames.END_STREAM, data.get(data.size() - 1).flags());
    }

    @Test
    void creditComesInBulkAndNotAfterTheEnd() {
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        int sent = 0;
        for (int i = 0; i < 1_000; i++) {
            client.send(Frames.DATA, i == 999 ? Frames.END_STREAM : 0, 1, new byte[4_000]);
            sent += 4_000;
        }
        int updates = client.all(Frames.WINDOW_UPDATE, 1).size()
                + client.all(Frames.WINDOW_UPDATE, 0).size();
        assertTrue(updates <= 3 * sent / (256 * 1024), updates + " updates");
        assertEquals(sent, client.request(0).received);
    }

    /** Some clients, such as Python's httpx, fail if our settings make a window negative that they have used already. */
    @Test
    void aClientMayUseTheProtocolsWindowBeforeItHasReadOurSettings() {
        client.close();
        client = new RawClient(Http2ServerSettings.DEFAULT, false);
        client.send(Frames.preface());
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.request(0).keepCredit = true;
        for (int left = DEFAULT_WINDOW; left > 0; left -= 16 * 1024) {
            client.send(Frames.DATA, 0, 1, new byte[Math.min(left, 16 * 1024)]);
        }
        assertEquals(DEFAULT_WINDOW, client.request(0).received);
        Frame settings = client.received.get(0);
        assertEquals(Frames.SETTINGS, settings.type());
        long window = DEFAULT_WINDOW;
        for (int at = 0; at < settings.payload().readableBytes(); at += 6) {
            if (settings.payload().getUnsignedShort(at) == INITIAL_WINDOW_SIZE) {
                window = settings.number(at + 2);
            }
        }
        assertTrue(window >= DEFAULT_WINDOW, "a window of " + window);
    }

    @Test
    void asManyStalledStreamsAsThereMayBeDoNotStopAnother() {
        int first = DEFAULT_WINDOW;
        int wide = 256 * 1024;
        for (int i = 0; i < 255; i++) {
            int id = 2 * i + 1;
            client.send(Frames.HEADERS, Frames.END_HEADERS, id, post());
            client.send(Frames.DATA, 0, id, new byte[1]); // is taken, so that the stream gets more room if any may
            client.request(i).keepCredit = true;
            boolean isWide = i < 16;
            assertEquals(isWide ? 1 : 0, client.all(Frames.WINDOW_UPDATE, id).size());
            for (int left = (isWide ? wide : first) - 1; left > 0; left -= 16 * 1024) {
                client.send(Frames.DATA, 0, id, new byte[Math.min(left, 16 * 1024)]);
            }
        }
        client.send(Frames.HEADERS, Frames.END_HEADERS, 511, post());
        for (int i = 0; i < 1_000; i++) {
            client.send(Frames.DATA, i == 999 ? Frames.END_STREAM : 0, 511, new byte[10_000]);
        }
        assertNull(client.first(Frames.GOAWAY, 0));
        assertEquals(10_000_000, client.request(255).received);
        assertTrue(client.request(255).ended);
    }

    @Test
    void roomThatAStreamHadGoesToAnotherOnceItHasEnded() {
        for (int id = 1; id < 99; id += 2) {
            client.send(Frames.HEADERS, Frames.END_HEADERS, id, post());
            client.send(Frames.DATA, 0, id, new byte[1]);
            assertEquals(1, client.all(Frames.WINDOW_UPDATE, id).size());
            client.send(Frames.RST_STREAM, 0, id, number(8));
        }
    }

    @Test
    void moreCreditThanIsOwedHurtsNoOtherRequest() {
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.request(0).keepCredit = true;
        client.request(0).onReset = () -> client.request(0).server().consumed(2_000);
        client.send(Frames.DATA, 0, 1, new byte[1_000]);
        client.send(Frames.RST_STREAM, 0, 1, number(CANCEL));
        assertEquals(Cause.CLIENT_CLOSED, client.request(0).failed().cause());
        client.send(Frames.HEADERS, END, 3, get());
        client.request(1).server().head(new ResponseHead(200, null, new Fields(), 0), true);
        client.request(1).server().flush();
        client.collect();
        assertNotNull(client.first(Frames.HEADERS, 3));
        assertNull(client.first(Frames.RST_STREAM, 1));
        assertNull(client.first(Frames.GOAWAY, 0));
    }

    @Test
    void aStreamThatIsGivenMoreCreditThanIsOwedGoesOn() {
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.request(0).keepCredit = true;
        client.send(Frames.DATA, 0, 1, new byte[1_000]);
        client.request(0).server().consumed(2_000);
        client.request(0).server().consumed(1_000);
        client.send(Frames.DATA, Frames.END_STREAM, 1, new byte[1_000]);
        assertTrue(client.request(0).ended);
        assertNull(client.request(0).failure);
        assertNull(client.first(Frames.RST_STREAM, 1));
    }

    @Test
    void aStalledStreamKeepsOnlyItsOwnWindow() {
        int before = opened();
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.request(0).keepCredit = true;
        client.send(Frames.DATA, 0, 1, new byte[16_000]);
        client.send(Frames.DATA, 0, 1, new byte[16_000]);
        client.send(Frames.HEADERS, Frames.END_HEADERS, 3, post());
        client.send(Frames.DATA, Frames.END_STREAM, 3, new byte[16_000]);
        assertTrue(client.request(1).ended);
        client.request(0).server().reset(Failure.of(Cause.UPSTREAM_TIMEOUT, ""));
        client.collect();
        client.request(0).server().consumed(32_000); // ignored: closing gave it all back
        int sent = 48_000;
        int back = opened() - before;
        int updates = 0;
        for (int stream = 5; sent <= 2 * Http2ServerSettings.DEFAULT.connectionWindow(); stream += 2) {
            client.send(Frames.HEADERS, Frames.END_HEADERS, stream, post());
            client.send(Frames.DATA, Frames.END_STREAM, stream, new byte[16_000]);
            sent += 16_000;
            if (opened() - before > back) {
                back = opened() - before;
                assertEquals(sent, back, "given back of all that was sent: nothing is lost, nothing counts twice");
                updates++;
            }
        }
        assertTrue(updates > 1);
        assertEquals(List.of(), client.all(Frames.GOAWAY, 0));
    }

    /** Returns by how much the window of the connection was opened so far. */
    private int opened() {
        return client.all(Frames.WINDOW_UPDATE, 0).stream()
                .mapToInt(update -> update.number(0))
                .sum();
    }

    @Test
    void paddingIsGivenBackAtOnce() {
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.request(0).keepCredit = true;
        byte[] padded = new byte[256];
        padded[0] = (byte) 255;
        for (int i = 0; i < 1_100; i++) {
            client.send(Frames.DATA, 8, 1, padded);
        }
        assertEquals(0, client.request(0).received);
        assertNull(client.first(Frames.RST_STREAM, 1));
        assertFalse(client.all(Frames.WINDOW_UPDATE, 1).isEmpty());
    }

    @Test
    void aClientThatStopsInTheMiddleOfItsBodyIsTimedOut() {
        with(100);
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.advance(20_000);
        client.send(Frames.DATA, 0, 1, new byte[1]);
        client.advance(20_000);
        assertNull(client.request(0).failure);
        client.advance(11_000);
        assertEquals(Cause.CLIENT_TIMEOUT, client.request(0).failed().cause());
        assertEquals(CANCEL, client.reset(1));
    }

    /** A stream of messages may be quiet for minutes; {@code timeouts.streamIdle} bounds that. */
    @Test
    void aCallOfGrpcMayPauseBetweenItsMessages() {
        with(100);
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post("content-type", "application/grpc"));
        client.advance(55_000);
        assertNull(client.request(0).failure);
    }

    @Test
    void aClientThatWaitsForUsIsNotTimedOut() {
        with(100);
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.request(0).keepCredit = true;
        client.send(Frames.DATA, 0, 1, new byte[1]);
        client.advance(40_000);
        assertNull(client.request(0).failure);
    }

    @Test
    void anOldConnectionIsDrained() {
        with(100);
        client.send(Frames.HEADERS, END, 1, get());
        client.advance(61_000);
        assertEquals(Integer.MAX_VALUE, client.all(Frames.GOAWAY, 0).get(0).number(0));
        byte[] ping = ByteBufUtil.getBytes(client.all(Frames.PING, 0).get(0).payload());
        client.send(frame(Frames.HEADERS, END, 3, get()), frame(Frames.PING, Frames.ACK, 0, ping));
        assertEquals(3, client.all(Frames.GOAWAY, 0).get(1).number(0));
        client.send(Frames.HEADERS, END, 5, get());
        assertEquals(2, client.recorder.requests.size());
        for (int i = 0; i < 2; i++) {
            client.request(i).server().head(Http2ConnectionsTest.response(200), true);
            client.request(i).server().flush();
            client.collect();
            assertNotNull(client.first(Frames.HEADERS, 2 * i + 1));
        }
        assertFalse(client.channel.isOpen());
    }

    @Test
    void anExtendedConnectNamesItsProtocol() {
        with(100);
        client.send(
                Frames.HEADERS,
                Frames.END_HEADERS,
                1,
                block(
                        ":method", "CONNECT",
                        ":protocol", "websocket",
                        ":scheme", "https",
                        ":path", "/chat",
                        ":authority", "example.org",
                        "sec-websocket-version", "13"));
        RequestHead head = client.request(0).request();
        assertEquals("websocket", String.valueOf(head.protocol()));
        assertEquals("/chat", head.path().toString());
        assertTrue(head.isConnect());
    }

    @Test
    void aRequestUpgradedFromHttp1IsAnsweredOnStreamOne() {
        RawClient upgraded = new RawClient(Http2ServerSettings.DEFAULT, false);
        RequestHead head = new RequestHead(
                Method.GET,
                new AsciiString("http"),
                new AsciiString("example.org"),
                new AsciiString("/"),
                new Fields(),
                0);
        byte[] settings = {0, 4, 0, 0, 0, 5}; // INITIAL_WINDOW_SIZE 5
        upgraded.server.upgrade(head, settings);
        assertTrue(upgraded.request(0).ended);
        upgraded.request(0).server().head(Http2ConnectionsTest.response(200), false);
        upgraded.request(0).server().data(Buffers.of(new byte[8]), true);
        upgraded.request(0).server().flush();
        upgraded.collect();
        assertEquals(5, upgraded.all(Frames.DATA, 1).get(0).payload().readableBytes());
        upgraded.send(Frames.preface(), frame(Frames.WINDOW_UPDATE, 0, 1, number(100)));
        assertEquals(3, upgraded.all(Frames.DATA, 1).get(1).payload().readableBytes());
        upgraded.send(Frames.HEADERS, END, 3, get());
        assertEquals(2, upgraded.recorder.requests.size());
        upgraded.close();
    }

    @Test
    void responsesOfManyStreamsLeaveInOneFlush() {
        client.send(frame(Frames.HEADERS, END, 1, get()), frame(Frames.HEADERS, END, 3, get()));
        int before = client.counts.flushes;
        for (int i = 0; i < 2; i++) {
            client.request(i).server().head(Http2ConnectionsTest.response(200), false);
            client.request(i).server().data(Buffers.of(new byte[8]), true);
        }
        client.request(0).server().flush();
        client.request(1).server().flush();
        client.collect();
        assertEquals(1, client.counts.flushes - before);
        assertEquals(
                2,
                client.all(Frames.DATA, 1).size() + client.all(Frames.DATA, 3).size());
    }

    private void answerEarly(int stream) {
        client.send(Frames.HEADERS, Frames.END_HEADERS, stream, post());
        client.request((stream - 1) / 2).server().head(new ResponseHead(413, null, new Fields(), 0), true);
        client.request((stream - 1) / 2).server().flush();
        client.collect();
        assertNotNull(client.first(Frames.HEADERS, stream));
    }

    /** A reset right behind the answer makes some clients forget the answer. */
    @Test
    void anUploadIsReadOnAfterItsAnswer() {
        answerEarly(1);
        for (int i = 0; i < 1_000; i++) {
            client.send(Frames.DATA, i == 999 ? Frames.END_STREAM : 0, 1, new byte[16 * 1024]);
        }
        assertNull(client.first(Frames.RST_STREAM, 1));
        assertNull(client.first(Frames.GOAWAY, 0));
        client.send(Frames.HEADERS, END, 3, get());
        assertNull(client.request(1).failure);
    }

    @Test
    void bytesThatNobodyTookBeforeTheAnswerDoNotStopTheUpload() {
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        client.request(0).keepCredit = true;
        for (int left = DEFAULT_WINDOW; left > 0; left -= 16 * 1024) {
            client.send(Frames.DATA, 0, 1, new byte[Math.min(left, 16 * 1024)]);
        }
        assertNull(client.first(Frames.WINDOW_UPDATE, 1));
        client.request(0).server().head(new ResponseHead(413, null, new Fields(), 0), true);
        client.request(0).server().flush();
        client.collect();
        assertNotNull(client.first(Frames.WINDOW_UPDATE, 1));
    }

    @Test
    void anUploadThatGoesOnForTooLongIsReset() {
        answerEarly(1);
        for (int half = 0; half < 239; half++) {
            client.send(Frames.DATA, 0, 1, new byte[16 * 1024]);
            client.advance(500);
        }
        assertNull(client.first(Frames.RST_STREAM, 1));
        client.send(Frames.DATA, 0, 1, new byte[16 * 1024]);
        client.advance(600);
        assertEquals(NO_ERROR, client.reset(1));
        assertTrue(client.channel.isOpen());
    }

    /** Some clients, such as curl 8, stop sending and wait for the end of the stream. */
    @Test
    void anUploadThatStopsIsReset() {
        answerEarly(1);
        client.send(Frames.DATA, 0, 1, new byte[16 * 1024]);
        client.advance(510);
        assertNull(client.first(Frames.RST_STREAM, 1));
        client.advance(600);
        assertEquals(NO_ERROR, client.reset(1));
    }

    /** Streams of others may need the connection. */
    @Test
    void anUploadGivesWayWithoutItsConnection() {
        answerEarly(1);
        assertFalse(((Http2ServerStream) client.request(0).server()).endLingering());
        client.collect();
        assertEquals(NO_ERROR, client.reset(1));
        assertTrue(client.channel.isOpen());
    }

    @Test
    void aListenerThatDrainsDoesNotWaitForUploads() {
        answerEarly(1);
        client.server.drain();
        client.advance(2_100);
        assertEquals(NO_ERROR, client.reset(1));
    }
}
