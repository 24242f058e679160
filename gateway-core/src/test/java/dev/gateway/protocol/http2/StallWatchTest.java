package dev.gateway.protocol.http2;

import static dev.gateway.protocol.http2.Frames.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.gateway.stream.Cause;
import dev.gateway.testing.Buffers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When a peer that takes nothing loses its stream, in time that only the test moves on. */
class StallWatchTest {
    private static final int WINDOW = 65_535; // of the connection, and of a stream
    private static final long IDLE_MILLIS =
            Http2ServerSettings.DEFAULT.timeouts().responseWriteIdleMillis();

    private final RawClient client = new RawClient();

    @BeforeEach
    void request() {
        request(1);
    }

    @AfterEach
    void close() {
        client.close();
    }

    private void request(int stream) {
        client.send(Frames.HEADERS, Frames.END_HEADERS | Frames.END_STREAM, stream, Frames.get());
        last().server().head(Http2ConnectionsTest.response(200), false);
    }

    private Pair.Exchange last() {
        return client.request(client.recorder.requests.size() - 1);
    }

    private void send(Pair.Exchange exchange, int bytes) {
        exchange.server().data(Buffers.of(new byte[bytes]), false);
        exchange.server().flush();
        client.collect();
    }

    /** The first response fills the window, and its exchange asks for room. */
    private Pair.Exchange stuck() {
        Pair.Exchange first = client.request(0);
        send(first, WINDOW + 1000);
        first.server().isWritable();
        return first;
    }

    private void window(int stream, int bytes) {
        client.send(Frames.WINDOW_UPDATE, 0, stream, number(bytes));
    }

    private void afterIdle() {
        client.advance(IDLE_MILLIS + 200);
    }

    @Test
    void whoTakesNothingHasStalled() {
        Pair.Exchange first = stuck();
        afterIdle();
        assertEquals(Cause.CLIENT_TIMEOUT, first.failed().cause());
    }

    @Test
    void whoTakesSomethingIsWaitedForAgain() {
        window(0, 1000);
        Pair.Exchange first = stuck();
        window(1, 100);
        afterIdle();
        assertNull(first.failure);
        afterIdle();
        assertEquals(Cause.CLIENT_TIMEOUT, first.failed().cause());
    }

    @Test
    void aStreamWhoseTurnItIsNotWaitsWhileOthersAreSent() {
        Pair.Exchange first = stuck();
        window(1, 10_000);
        client.send(PriorityUpdate.TYPE, 0, 0, new byte[] {0, 0, 0, 3, 'u', '=', '0'});
        request(3);
        send(last(), 1000);
        window(0, 100);
        assertEquals(1, client.all(Frames.DATA, 3).size());
        afterIdle();
        assertNull(first.failure);
        afterIdle();
        assertEquals(Cause.CLIENT_TIMEOUT, first.failed().cause());
    }

    @Test
    void othersDoNotExcuseAPeerThatOpensNoWindow() {
        window(0, 1000);
        Pair.Exchange first = stuck();
        request(3);
        send(last(), 100);
        assertEquals(1, client.all(Frames.DATA, 3).size());
        afterIdle();
        assertEquals(Cause.CLIENT_TIMEOUT, first.failed().cause());
    }

    @Test
    void aWindowIsNoExcuseWhileNothingIsSentAtAll() {
        Pair.Exchange first = stuck();
        window(1, 10_000);
        afterIdle();
        assertEquals(Cause.CLIENT_TIMEOUT, first.failed().cause());
    }
}
