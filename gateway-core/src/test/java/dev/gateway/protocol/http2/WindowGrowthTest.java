package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Stream;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AsciiString;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How much of a body is under way on a path of 50 ms there and back, in time that only the test moves on. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // without credit its loops never end
class WindowGrowthTest {
    private static final int WINDOW = 256 * 1024;
    private static final byte[] PIECE = new byte[32 * 1024];
    private static final int ROUND_TRIP = 4; // hops: out, there, back, here
    private static final int HOP_MILLIS = 50 / ROUND_TRIP;

    private final Pair pair = new Pair();
    private final Deque<ByteBuf> toServer = new ArrayDeque<>();
    private final Deque<ByteBuf> toClient = new ArrayDeque<>();
    private int bandwidth = Integer.MAX_VALUE; // bytes per hop
    private int streams;

    @AfterEach
    void nothingIsLeft() {
        toServer.forEach(ByteBuf::release);
        toClient.forEach(ByteBuf::release);
        pair.close();
    }

    /** The two ends of one stream. */
    private record Ends(Pair.Exchange client, Pair.Exchange server, boolean upload) {
        Stream source() {
            return upload ? client.client() : server.server();
        }

        Pair.Exchange sink() {
            return upload ? server : client;
        }
    }

    private Ends open(boolean upload) {
        Pair.Exchange client = pair.open();
        AsciiString http = new AsciiString("http");
        AsciiString authority = new AsciiString("example.org");
        RequestHead head = new RequestHead(
                upload ? Method.POST : Method.GET, http, authority, new AsciiString("/"), new Fields(), -1);
        client.client().head(head, !upload);
        client.client().flush();
        pair.pump();
        Pair.Exchange server = pair.requests.get(streams++);
        if (!upload) {
            server.server().head(Http2ConnectionsTest.response(200), false);
        }
        return new Ends(client, server, upload);
    }

    /** Sends what windows allow, then lets what was sent before arrive, each way. */
    private void hop(Ends... open) {
        for (Ends ends : open) {
            while (ends.source().isWritable()) {
                ends.source().data(Buffers.of(PIECE), false);
                ends.source().flush();
                (ends.upload() ? pair.clientChannel : pair.serverChannel).runPendingTasks();
            }
        }
        int clientSent = toServer.size();
        int serverSent = toClient.size();
        take(pair.clientChannel, toServer);
        take(pair.serverChannel, toClient);
        pair.clientChannel.advanceTimeBy(HOP_MILLIS, TimeUnit.MILLISECONDS);
        pair.serverChannel.advanceTimeBy(HOP_MILLIS, TimeUnit.MILLISECONDS);
        deliver(toServer, clientSent, pair.serverChannel);
        deliver(toClient, serverSent, pair.clientChannel);
    }

    private static void take(EmbeddedChannel from, Deque<ByteBuf> path) {
        from.runPendingTasks();
        for (ByteBuf out = from.readOutbound(); out != null; out = from.readOutbound()) {
            path.add(out);
        }
    }

    private void deliver(Deque<ByteBuf> path, int count, EmbeddedChannel to) {
        int left = bandwidth;
        for (int i = 0; i < count && left > 0; i++) {
            ByteBuf next = path.remove();
            left -= next.readableBytes();
            to.writeOneInbound(next);
        }
        to.flushInbound();
        to.runPendingTasks();
    }

    /** Returns how much came in the last of many round trips. */
    private int perRoundTrip(Ends... open) {
        for (int i = 0; i < 25 * ROUND_TRIP; i++) {
            hop(open);
        }
        int before = received(open);
        for (int i = 0; i < ROUND_TRIP; i++) {
            hop(open);
        }
        return received(open) - before;
    }

    private static int received(Ends... open) {
        int sum = 0;
        for (Ends ends : open) {
            sum += ends.sink().received;
        }
        return sum;
    }

    private static int growth(boolean upload) {
        return upload ? Http2ServerSettings.WINDOW_GROWTH : Http2ClientSettings.WINDOW_GROWTH;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aStreamWhoseBytesAreTakenFillsALongPath(boolean upload) {
        int perRoundTrip = perRoundTrip(open(upload));
        assertTrue(perRoundTrip > growth(upload), "only " + perRoundTrip);
        assertTrue(perRoundTrip <= growth(upload) + WINDOW, "as much as " + perRoundTrip);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aStreamWhoseBytesNobodyTakesGetsNoMoreThanItHad(boolean upload) {
        Ends ends = open(upload);
        ends.sink().keepCredit = true;
        for (int i = 0; i < 40; i++) {
            hop(ends);
        }
        int window = upload ? Http2ServerSettings.DEFAULT.streams().window() : WINDOW;
        assertEquals(window, ends.sink().received);
    }

    @Test
    void aStreamWhoseBytesAreTakenSlowlyGetsNoMoreEither() {
        Ends ends = open(false);
        ends.sink().keepCredit = true;
        int taken = 0;
        for (int i = 0; i < 50 * ROUND_TRIP; i++) {
            hop(ends);
            int take = Math.min(50_000, ends.sink().received - taken);
            ends.client().client().consumed(take);
            taken += take;
        }
        assertTrue(ends.sink().received - taken <= WINDOW);
        assertTrue(taken > 10 * WINDOW);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theStreamsOfAConnectionShareWhatThereIs(boolean upload) {
        Ends first = open(upload);
        Ends second = open(upload);
        int perRoundTrip = perRoundTrip(first, second);
        assertTrue(perRoundTrip > growth(upload), "only " + perRoundTrip);
        assertTrue(perRoundTrip <= growth(upload) + 2 * WINDOW, "as much as " + perRoundTrip);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatAStreamHadIsForTheNextOne(boolean upload) {
        Ends first = open(upload);
        perRoundTrip(first);
        first.source().data(Unpooled.EMPTY_BUFFER, true);
        first.source().flush();
        if (upload) {
            first.server().server().head(Http2ConnectionsTest.response(200), true);
            first.server().server().flush();
        }
        for (int i = 0; i < 3 * ROUND_TRIP; i++) {
            hop();
        }
        assertEquals(0, pair.client.activeStreams());
        int perRoundTrip = perRoundTrip(open(upload));
        assertTrue(perRoundTrip > growth(upload), "only " + perRoundTrip);
    }

    /** A stream's bytes are taken fast, so that its window grows, then no more; returns how many were left when it ended. */
    private int leftUntaken() {
        Ends ends = open(false);
        perRoundTrip(ends);
        flushed(ends);
        ends.sink().keepCredit = true;
        Http2Stream h2 =
                Objects.requireNonNull(((MultiplexedStream) ends.server().server()).h2());
        int window = pair.server.connection().remote().flowController().windowSize(h2);
        ends.source().data(Buffers.of(new byte[window]), true);
        flushed(ends);
        assertEquals(0, pair.client.activeStreams());
        return window;
    }

    /** Sends nothing more, and lets what waits come, which takes more than one flush. */
    private void flushed(Ends ends) {
        for (int i = 0; i < 50 * ROUND_TRIP; i++) {
            ends.source().flush();
            hop();
        }
    }

    @Test
    void endedStreamsWhoseBytesAreStillHereLeaveLessForOthersForAWhile() {
        int untaken = 0;
        for (int i = 0; i < 4; i++) {
            untaken += leftUntaken();
        }
        assertTrue(untaken > growth(false) / 2, "only " + untaken);
        assertTrue(untaken <= growth(false) + 4 * WINDOW, "as much as " + untaken);
        pair.clientChannel.advanceTimeBy(61, TimeUnit.SECONDS);
        assertTrue(leftUntaken() > growth(false) / 2);
    }

    @Test
    void aPathThatIsFullIsNotFilledFurther() {
        bandwidth = 100_000;
        Ends ends = open(true);
        for (int i = 0; i < 200; i++) {
            hop(ends);
        }
        int waiting = toServer.stream().mapToInt(ByteBuf::readableBytes).sum();
        assertTrue(waiting <= 3 * WINDOW, waiting + " bytes wait on the path");
    }

    @Test
    void aShortPathIsMeasuredRarelyAndWindowsAreUpdatedInBulk() {
        Ends ends = open(false);
        int sent = 0;
        while (sent < 64 << 20) {
            while (ends.source().isWritable()) {
                ends.source().data(Buffers.of(PIECE), false);
                sent += PIECE.length;
            }
            ends.source().flush();
            pair.pump();
        }
        int pings = pair.clientCounts.sent[Http2FrameTypes.PING];
        assertTrue(pings > 0 && pings < 20, pings + " pings");
        int updates = pair.clientCounts.sent[Http2FrameTypes.WINDOW_UPDATE];
        assertTrue(updates <= 3 * (sent / WINDOW), updates + " updates");
    }
}
