package dev.gateway.protocol.http2;

import static dev.gateway.protocol.http2.Frames.get;
import static dev.gateway.protocol.http2.Frames.number;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.ResponseHead;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a client sees of the order in which its responses are sent, frame by frame (RFC 9218). */
class PrioritiesTest {
    private static final int END = Frames.END_STREAM | Frames.END_HEADERS;
    private static final int PROTOCOL_ERROR = 1;
    private static final int FRAME_SIZE_ERROR = 6;
    private static final int BODY = 2 * PriorityDistributor.CHUNK;
    private static final byte[] WIDE = {0, 4, 0, 16, 0, 0}; // SETTINGS_INITIAL_WINDOW_SIZE of 1 MiB

    private final RawClient client = new RawClient();
    private int next = 1;

    @AfterEach
    void nothingIsLeft() {
        client.close();
        assertEquals(client.counts.opened, client.counts.closed);
    }

    private void request(String... fields) {
        client.send(Frames.HEADERS, END, next, get(fields));
        next += 2;
    }

    private void update(int stream, String value) {
        ByteBuf payload = Unpooled.copiedBuffer(Unpooled.copyInt(stream), Unpooled.copiedBuffer(value, US_ASCII));
        byte[] bytes = new byte[payload.readableBytes()];
        payload.readBytes(bytes);
        client.send(PriorityUpdate.TYPE, 0, 0, bytes);
    }

    private void respond(int i, String... fields) {
        ResponseHead head = Http2ConnectionsTest.response(200);
        for (int f = 0; f < fields.length; f += 2) {
            head.fields().add(FieldName.of(fields[f]), fields[f + 1]);
        }
        client.request(i).server().head(head, false);
        client.request(i).server().data(Buffers.of(new byte[BODY]), true);
    }

    /** Has all responses sent, in parts; returns the streams in the order of their DATA frames, neighbors told once. */
    private String order() {
        for (int i = 0; i < 20; i++) {
            client.send(Frames.WINDOW_UPDATE, 0, 0, number(16 * 1024));
            client.request(0).server().flush();
            client.collect();
        }
        String streams = client.received.stream()
                .filter(frame -> frame.type() == Frames.DATA
                        && frame.stream() != 1
                        && frame.payload().isReadable())
                .map(frame -> Integer.toString(frame.stream()))
                .collect(Collectors.joining(" "));
        return streams.replaceAll("\\b(\\d+)( \\1)+\\b", "$1");
    }

    /** The first response takes all of the connection's window, so that the others wait for the order to be seen. */
    private void fill() {
        client.send(Frames.SETTINGS, 0, 0, WIDE);
        request();
        client.request(0).server().head(Http2ConnectionsTest.response(200), false);
        client.request(0).server().data(Buffers.of(new byte[65_535]), false);
        client.request(0).server().flush();
        client.collect();
    }

    private void respondAll() {
        for (int i = 1; i < next / 2; i++) {
            respond(i);
        }
        client.request(0).server().data(Unpooled.EMPTY_BUFFER, true);
    }

    /** What three requests say, '-' being nothing, and the order of their responses' streams. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "- | - | - | 3 5 7 3 5 7",
                "u=3 | - | - | 3 5 7",
                "- | - | u=2 | 7 3 5 3 5",
                "u=5 | u=4 | u=3 | 7 5 3",
                "u=5, i | u=5, i | u=4 | 7 3 5 3 5",
                "u=1, i | u=1, i | u=1, i | 3 5 7 3 5 7",
                "u=9 | u=x | i=3 | 3 5 7"
            })
    void responsesAreSentAsRequestsSay(String first, String second, String third, String order) {
        fill();
        for (String said : new String[] {first, second, third}) {
            if (said.equals("-")) {
                request();
            } else {
                request("priority", said);
            }
        }
        respondAll();
        assertEquals(order, order());
    }

    @Test
    void aFieldIsForwarded() {
        request("priority", "u=1, i");
        assertEquals("priority: u=1, i\n", client.request(0).request().fields().toString());
        client.request(0).server().head(Http2ConnectionsTest.response(200), true);
        client.request(0).server().flush();
    }

    @Test
    void anUpdateReordersWhatIsOpen() {
        fill();
        request("priority", "u=3");
        request("priority", "u=3");
        request("priority", "u=3");
        respondAll();
        update(7, "u=2");
        update(3, "u=4, unknown=(1 2)");
        assertEquals("7 5 3", order());
    }

    @Test
    void anUpdateMayComeBeforeItsRequestAndGoesBeforeItsField() {
        fill();
        update(7, "u=0");
        update(5, "u=6");
        request("priority", "u=3");
        request("priority", "u=0");
        request();
        respondAll();
        assertEquals("7 3 5", order());
    }

    @Test
    void anUpdateOfWhatIsClosedOrWasPassedOverIsIgnored() {
        update(3, "u=1");
        next = 5;
        request();
        client.request(0).server().head(Http2ConnectionsTest.response(200), true);
        client.request(0).server().flush();
        client.collect();
        update(5, "u=1");
        update(3, "u=1");
        assertTrue(client.channel.isOpen());
        assertNull(client.first(Frames.GOAWAY, 0));
    }

    @Test
    void aResponseSaysMoreThanItsRequest() {
        fill();
        request("priority", "u=1");
        request("priority", "u=5");
        request("priority", "u=3");
        respond(1, "priority", "u=6");
        respond(2, "priority", "i=?0, u=0");
        respond(3, "priority", "garbage, =");
        client.request(0).server().data(Unpooled.EMPTY_BUFFER, true);
        assertEquals("5 7 3", order());
    }

    @Test
    void whatAResponseSaysOutlivesAnUpdateByTheClient() {
        fill();
        request("priority", "u=3");
        request("priority", "u=3");
        respond(1, "priority", "u=6");
        respond(2);
        update(3, "u=0");
        client.request(0).server().data(Unpooled.EMPTY_BUFFER, true);
        assertEquals("5 3", order());
    }

    @Test
    void aTunnelTakesTurns() {
        fill();
        for (int i = 0; i < 2; i++) {
            byte[] connect = Frames.block(":method", "CONNECT", ":authority", "example.org:443", "priority", "u=3");
            client.send(Frames.HEADERS, Frames.END_HEADERS, next, connect);
            next += 2;
        }
        respondAll();
        assertEquals("3 5 3 5", order());
        client.send(Frames.DATA, Frames.END_STREAM, 3);
        client.send(Frames.DATA, Frames.END_STREAM, 5);
    }

    /** The stream that the frame is on, the one that it is about, and the error. */
    @ParameterizedTest
    @CsvSource({"0, 0, 1", "0, 2, 1", "1, 1, 1"})
    void anUpdateOfNoRequestEndsTheConnection(int onStream, int stream, int error) {
        fill();
        client.request(0).server().data(Unpooled.EMPTY_BUFFER, true);
        client.send(PriorityUpdate.TYPE, 0, onStream, number(stream));
        assertEquals(error, client.goAway());
    }

    @Test
    void anUpdateThatIsTooShortEndsTheConnection() {
        client.send(PriorityUpdate.TYPE, 0, 0, (byte) 0, (byte) 0, (byte) 1);
        assertEquals(FRAME_SIZE_ERROR, client.goAway());
    }

    @Test
    void updatesForRequestsToComeAreLimited() {
        int limit = Http2ServerSettings.DEFAULT.streams().maxConcurrent();
        for (int i = 0; i < limit; i++) {
            update(2 * i + 1, "u=1");
            update(2 * i + 1, "u=2");
        }
        assertNull(client.first(Frames.GOAWAY, 0));
        update(2 * limit + 1, "u=1");
        assertEquals(PROTOCOL_ERROR, client.goAway());
    }

    @Test
    void whoWaitsForItsTurnIsNotTakenForStalled() {
        fill();
        request("priority", "u=0");
        request("priority", "u=7");
        for (int i = 1; i < 3; i++) {
            client.request(i).server().head(Http2ConnectionsTest.response(200), false);
        }
        client.request(2).server().data(Buffers.of(new byte[70_000]), true);
        client.request(0).server().data(Unpooled.EMPTY_BUFFER, true);
        client.request(2).server().flush();
        for (int i = 0; i < 5; i++) {
            client.request(1).server().data(Buffers.of(new byte[1_000]), i == 4);
            client.send(Frames.WINDOW_UPDATE, 0, 0, number(1_000));
            client.request(1).server().flush();
            client.advance(50_000);
            assertNull(client.first(Frames.RST_STREAM, 5));
        }
        client.send(Frames.WINDOW_UPDATE, 0, 0, number(70_000));
        client.request(1).server().flush();
        client.collect();
        assertEquals(
                70_000,
                client.all(Frames.DATA, 5).stream()
                        .mapToInt(f -> f.payload().readableBytes())
                        .sum());
    }
}
