package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Blockade;
import dev.gateway.testing.Buffers;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.ref.WeakReference;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the head and the trailers of a request hold of the memory that all clients share. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class Http1ServerMemoryTest {
    private static final long CAPACITY = 1 << 20;
    private static final String GET = "GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n";
    private static final String CHUNKED = "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n";
    private static final String NO_ROOM =
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    private final LoopBudget budget = new LoopBudget(new MemoryBudget(CAPACITY, 1));
    private final Account others = new Account(budget);
    private final LoopBudget direct = new LoopBudget(new MemoryBudget(CAPACITY, 1));
    private final Account account = new Account(budget, direct);
    private final Downstream client = new Downstream(Downstream.SETTINGS, account, new EmbeddedChannel());

    @AfterEach
    void releaseEverything() {
        client.finish();
    }

    private void othersHoldEverything() {
        others.charge(CAPACITY);
    }

    private void assertCharged(int least) {
        assertTrue(account.held() >= least, () -> "charged " + account.held());
    }

    /** Its exchange has ended, and the connection takes the next request. */
    @Test
    void aResponseIsChargedUntilItIsTaken() {
        Blockade blockade = new Blockade(client.channel);
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), 10_000), false);
            request.stream.data(Buffers.of(new byte[10_000]), true);
            request.stream.flush();
        };
        client.send(GET);
        long one = direct.held();
        assertTrue(one > 10_000, () -> "charged " + one);
        client.send(GET);
        assertTrue(direct.held() > one + 10_000, () -> "charged " + direct.held());
        blockade.lift();
        assertEquals(0, direct.held());
        client.sent();
    }

    @Test
    void aResponseIsChargedUntilItsConnectionCloses() {
        new Blockade(client.channel);
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), 10_000), false);
            request.stream.data(Buffers.of(new byte[10_000]), true);
            request.stream.flush();
        };
        client.send(GET);
        assertTrue(direct.held() > 10_000, () -> "charged " + direct.held());
        client.channel.close();
        assertEquals(0, direct.held());
    }

    /** Its connection is that of a proxy, whose clients have shares of their own. */
    @Test
    void aResponseCountsForTheClientThatAProxyNames() {
        Blockade blockade = new Blockade(client.channel);
        LoopGate gate = new LoopGate(new Overload(), budget, direct);
        Account named = Objects.requireNonNull(gate.accountOf("a client"));
        client.answer = request -> {
            request.stream.countFor(named);
            request.stream.head(new ResponseHead(200, null, new Fields(), 10_000), false);
            request.stream.data(Buffers.of(new byte[10_000]), true);
            request.stream.flush();
            named.leave(); // its exchange has ended
        };
        client.send(GET);
        assertEquals(0, account.waitingBodies().held());
        assertTrue(named.waitingBodies().held() > 10_000);
        assertSame(
                named.client(),
                Objects.requireNonNull(gate.accountOf("a client")).client());
        blockade.lift();
        assertEquals(0, direct.held());
        client.sent();
    }

    /** The upstream may be silent for long, and nobody sees that the client takes nothing. */
    @Test
    void whatWaitsOfAResponseThatGoesOnIsCharged() {
        Blockade blockade = new Blockade(client.channel);
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), 20_000), false);
            request.stream.data(Buffers.of(new byte[10_000]), false);
            request.stream.flush();
        };
        client.send(GET);
        assertTrue(client.channel.isWritable());
        long one = direct.held();
        assertTrue(one > 10_000, () -> "charged " + one);
        client.last().stream.data(Buffers.of(new byte[10_000]), true);
        client.last().stream.flush();
        assertTrue(direct.held() > one + 10_000, () -> "charged " + direct.held());
        blockade.lift();
        assertEquals(0, direct.held());
        client.sent();
    }

    /** Its end was written to a channel that was full already, while its exchange still answered for it. */
    @Test
    void whatWaitsOfAResponseThatEndsWhileTheChannelIsFullIsCharged() {
        Blockade blockade = new Blockade(client.channel);
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), 210_000), false);
            request.stream.data(Buffers.of(new byte[200_000]), false);
            request.stream.flush();
            request.stream.data(Buffers.of(new byte[10_000]), true);
            request.stream.flush();
        };
        client.send(GET);
        assertTrue(!client.channel.isWritable());
        assertTrue(direct.held() > 210_000, () -> "charged " + direct.held());
        blockade.lift();
        assertEquals(0, direct.held());
        client.sent();
    }

    @Test
    void requestsThatWaitForTheirTurnAreCharged() {
        client.answer = request -> {};
        client.send(GET);
        assertEquals(0, direct.held());
        client.send(GET.repeat(100));
        assertTrue(direct.held() >= 100L * GET.length(), () -> "charged " + direct.held());
        client.answer = Downstream::echo;
        Downstream.echo(client.requests.get(0));
        assertEquals(101, client.requests.size());
        assertEquals(0, direct.held());
        client.sent();
    }

    @Test
    void requestsThatWaitForTheirTurnAreChargedUntilTheConnectionCloses() {
        client.answer = request -> {};
        client.send(GET.repeat(100));
        assertTrue(direct.held() >= 99L * GET.length(), () -> "charged " + direct.held());
        client.channel.close();
        assertEquals(0, direct.held());
    }

    /** One byte of the next request would keep all of a buffer of 512 KiB. */
    @Test
    void aShortRestOfALongReadKeepsNothingElseOfIt() {
        client.answer = request -> {};
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 30000\r\n\r\n" + "x".repeat(30_000) + "G");
        assertTrue(direct.held() > 0 && direct.held() < 1000, () -> "charged " + direct.held());
    }

    @Test
    void aHeadIsChargedUntilAllOfItHasCome() {
        client.answer = request -> {};
        client.send(GET.substring(0, 20));
        assertCharged(20);
        client.send(GET.substring(20));
        assertEquals(1, client.requests.size());
        assertEquals(0, account.held());
    }

    @Test
    void aHeadThatComesAtOnceIsNotCharged() {
        othersHoldEverything();
        client.send(GET);
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", client.sent());
    }

    @Test
    void aHeadThatIsRefusedIsChargedNoMore() {
        client.answerRefused = request -> {};
        client.send("GET / HTTP/1.1\r\nHost: a\r\n");
        assertCharged(20);
        client.send("bad\r\n\r\n");
        assertEquals(1, client.requests.size());
        assertEquals(0, account.held());
    }

    @Test
    void aHeadWhoseClientIsTooSlowIsChargedNoMore() {
        client.answerRefused = request -> {};
        client.send(GET.substring(0, 20));
        client.clock.advance(1_100);
        assertEquals(
                Cause.CLIENT_TIMEOUT,
                Objects.requireNonNull(client.last().refused).cause());
        assertEquals(0, account.held());
    }

    @Test
    void aHeadWhoseClientGoesIsChargedNoMore() {
        client.send(GET.substring(0, 20));
        assertCharged(20);
        client.channel.close();
        assertEquals(0, account.held());
    }

    @Test
    void aHeadWithoutRoomIsRefusedOnceAndForAll() {
        othersHoldEverything();
        client.answerRefused = request -> {};
        client.send(GET.substring(0, 20));
        Failure refused = client.last().refused;
        assertNotNull(refused);
        assertEquals(Cause.OVERLOAD, refused.cause());
        assertNull(client.last().head);
        client.send(GET.substring(20) + GET);
        client.clock.advance(1_100); // as long as a head may take
        assertEquals(1, client.requests.size());
        assertTrue(client.channel.isOpen());
        Downstream.refuse(client.last());
        assertEquals(NO_ROOM, client.sent());
        assertFalse(client.channel.isOpen());
        assertEquals("[]", client.violations.toString());
        assertEquals(0, client.idleCloses);
    }

    private static void cut() {
        StalledPeers.ofThisLoop().cut(StalledPeers.Memory.HEAP, 1_000, Long.MAX_VALUE, 0, () -> {});
    }

    @Test
    void aHeadThatDoesNotEndIsRefusedWhenTheHeapIsShort() {
        client.answerRefused = request -> {};
        client.send("GET / HTTP/1.1\r\nHost: a.test\r\nx: " + "y".repeat(3_000));
        assertCharged(3_000);
        cut();
        assertEquals(
                Cause.OVERLOAD, Objects.requireNonNull(client.last().refused).cause());
        assertEquals(0, account.held());
    }

    @Test
    void aHeadThatHasEndedIsNotCut() {
        client.answer = request -> {};
        client.send("GET / HTTP/1.1\r\nHost: a.test\r\nx: " + "y".repeat(3_000));
        client.send("\r\n\r\n");
        cut();
        assertNull(client.last().refused);
        assertNull(client.last().reset);
        assertTrue(client.channel.isOpen());
    }

    @Test
    void aHeadWhoseClientHasGoneIsNotCut() {
        client.send("GET / HTTP/1.1\r\nHost: a.test\r\nx: " + "y".repeat(3_000));
        client.channel.close();
        cut();
        assertEquals(0, client.requests.size());
    }

    @Test
    void trailersThatDoNotEndFailTheirRequestWhenTheHeapIsShort() {
        client.send(CHUNKED + "1\r\nx\r\n0\r\nX-Sum: " + "1".repeat(3_000));
        cut();
        assertEquals(Cause.OVERLOAD, Objects.requireNonNull(client.last().reset).cause());
        assertEquals(0, account.held());
    }

    @Test
    void trailersAreChargedUntilAllOfThemHaveCome() {
        client.answer = request -> {};
        client.send(CHUNKED + "1\r\nx\r\n0\r\nX-Sum: 12345");
        assertCharged(12);
        client.send("6\r\n\r\n");
        Fields trailers = client.last().trailers;
        assertNotNull(trailers);
        assertEquals("X-Sum: 123456\n", trailers.toString());
        assertEquals(0, account.held());
    }

    @Test
    void trailersWithoutRoomFailTheirRequest() {
        client.send(CHUNKED + "1\r\nx\r\n");
        othersHoldEverything();
        client.send("0\r\nX-Sum: 12345");
        Failure reset = client.last().reset;
        assertNotNull(reset);
        assertEquals(Cause.OVERLOAD, reset.cause());
        assertEquals(NO_ROOM, client.sent());
        assertFalse(client.channel.isOpen());
        assertFalse(client.last().complete);
    }

    @Test
    void trailersWithoutRoomThatNobodyWantsEndTheConnection() {
        client.send(CHUNKED + "1\r\nx\r\n");
        Downstream.echo(client.last());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", client.sent());
        othersHoldEverything();
        client.send("0\r\nX-Sum: 12345");
        assertFalse(client.channel.isOpen());
        assertEquals("", client.sent());
        assertEquals(1, client.requests.size());
    }

    /** There may be very many of those, and heads may be large. */
    @Test
    void anIdleConnectionKeepsNothingOfItsLastRequest() {
        client.send(GET);
        assertForgotten(head());
        client.send(CHUNKED + "1\r\nx\r\n0\r\nX-Sum: 1\r\n\r\n");
        WeakReference<Fields> trailers = trailers();
        assertForgotten(head());
        assertForgotten(trailers);
        assertTrue(client.channel.isOpen());
    }

    @Test
    void aConnectionThatIsBeingClosedKeepsNothingOfWhatItRefused() {
        client.answerRefused = request -> {};
        client.send("GET / HTTP/1.1\r\nContent-Length: 1x\r\nHost: a.test\r\n\r\n");
        WeakReference<RequestHead> head = new WeakReference<>(Objects.requireNonNull(client.last().head));
        client.last().stream.head(new ResponseHead(400, null, new Fields(), 0), true);
        client.requests.clear();
        assertForgotten(head);
    }

    private WeakReference<RequestHead> head() {
        RequestHead head = client.last().head;
        client.requests.clear();
        return new WeakReference<>(head);
    }

    private WeakReference<Fields> trailers() {
        return new WeakReference<>(client.last().trailers);
    }

    private static void assertForgotten(WeakReference<?> reference) {
        for (int i = 0; i < 10 && reference.get() != null; i++) {
            System.gc();
        }
        assertNull(reference.get());
    }
}
