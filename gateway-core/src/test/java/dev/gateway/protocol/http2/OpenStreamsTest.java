package dev.gateway.protocol.http2;

import static dev.gateway.protocol.http2.Frames.frame;
import static dev.gateway.protocol.http2.Frames.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which streams of a connection are told of room, and of the end of a batch of frames. */
class OpenStreamsTest {
    private static final int MORE_THAN_WINDOW = 66_000;

    private final RawClient client = new RawClient();
    private final List<String> told = new ArrayList<>();

    @BeforeEach
    void open() {
        client.send(window(0, 10_000_000));
        for (int stream : new int[] {1, 3, 5}) {
            client.send(Frames.HEADERS, Frames.END_HEADERS, stream, Frames.post());
            of(stream).server().head(Http2ConnectionsTest.response(200), false);
        }
    }

    @AfterEach
    void close() {
        client.close();
    }

    private Pair.Exchange of(int stream) {
        return client.request(stream / 2);
    }

    private static ByteBuf window(int stream, int bytes) {
        return frame(Frames.WINDOW_UPDATE, 0, stream, number(bytes));
    }

    private static ByteBuf data(int stream) {
        return frame(Frames.DATA, 0, stream, (byte) 'x');
    }

    /** Sends more than its window takes, and asks whether there is room for more. */
    private void fill(int stream) {
        of(stream).server().data(Buffers.of(new byte[MORE_THAN_WINDOW]), false);
        of(stream).server().flush();
        assertFalse(of(stream).server().isWritable());
    }

    private void pause(int stream) {
        of(stream).onWritable = () -> told.add("" + stream);
        fill(stream);
    }

    @Test
    void whoHasRoomIsToldInTheOrderInWhichTheyCameToWait() {
        pause(1);
        pause(3);
        pause(5);
        client.send(window(5, 100_000), window(1, 100_000));
        assertEquals(List.of("1", "5"), told);
        client.send(window(3, 100_000));
        client.send(window(3, 100_000));
        assertEquals(List.of("1", "5", "3"), told);
    }

    @Test
    void whoWaitsAgainAtOnceComesAfterTheOthers() {
        pause(1);
        pause(3);
        of(1).onWritable = () -> {
            told.add("1");
            of(1).onWritable = () -> told.add("1");
            fill(1);
            fill(1);
        };
        client.send(window(1, 100_000), window(3, 100_000));
        assertEquals(List.of("1", "3"), told);
        client.send(window(1, 100_000));
        assertEquals(List.of("1", "3", "1"), told);
    }

    @Test
    void whatOneDoesMayMakeRoomForOneThatWasPassedOver() {
        pause(1);
        pause(3);
        of(3).onWritable = () -> {
            told.add("3");
            Http2Stream first = Objects.requireNonNull(client.server.connection().stream(1));
            try {
                client.server.connection().remote().flowController().incrementWindowSize(first, 100_000);
            } catch (Http2Exception e) {
                throw new IllegalStateException(e);
            }
            client.server.flush(client.server.context());
        };
        client.send(window(3, 100_000));
        assertEquals(List.of("3", "1"), told);
    }

    private void tell(int stream) {
        of(stream).onReadComplete = () -> told.add("" + stream);
    }

    @Test
    void allHearOfTheEndOfABatchOnce() {
        tell(1);
        tell(3);
        client.send(data(1), data(3), data(1));
        assertEquals(List.of("1", "3"), told);
        client.send(data(5));
        assertEquals(List.of("1", "3"), told);
    }

    @Test
    void whoJoinsWhileOthersAreToldIsToldToo() {
        of(1).onReadComplete = () -> ((MultiplexedStream) of(3).server()).touch();
        tell(3);
        client.send(data(1));
        assertEquals(List.of("3"), told);
    }

    /** Whose request continues after its response, its credit is widened, once all others were told. */
    @Test
    void allAreToldBeforeAnyReadsOn() {
        Http2ServerStream first = (Http2ServerStream) of(1).server();
        of(1).onReadComplete = () -> {
            first.data(Buffers.of("end"), true);
            first.flush();
            client.server.flush(client.server.context());
        };
        of(3).onReadComplete = () -> told.add(first.isWide() ? "wide" : "not yet");
        first.touch();
        client.send(data(3));
        assertEquals(List.of("not yet"), told);
        assertTrue(first.isWide());
    }
}
