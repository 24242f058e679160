package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.StreamByteDistributor.StreamState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In which order streams get to send, and that each byte of room is given once. */
class PriorityDistributorTest {
    private static final int CHUNK = PriorityDistributor.CHUNK;

    private final DefaultHttp2Connection connection = new DefaultHttp2Connection(true);
    private final PriorityDistributor distributor = new PriorityDistributor(connection);
    private final Map<Integer, Flow> flows = new HashMap<>();
    private final List<String> written = new ArrayList<>();

    /** What Netty's flow controller knows of one stream. */
    private static final class Flow implements StreamState {
        final Http2Stream stream;
        long pending;
        int window = 1 << 30;
        boolean ending; // a frame without bytes waits

        Flow(Http2Stream stream) {
            this.stream = stream;
        }

        @Override
        public Http2Stream stream() {
            return stream;
        }

        @Override
        public long pendingBytes() {
            return pending;
        }

        @Override
        public boolean hasFrame() {
            return pending > 0 || ending;
        }

        @Override
        public int windowSize() {
            return window;
        }
    }

    private Flow flow(int id) {
        return Objects.requireNonNull(flows.get(id));
    }

    private Flow open(int id) throws Http2Exception {
        Flow flow = new Flow(connection.remote().createStream(id, false));
        flows.put(id, flow);
        return flow;
    }

    private void pend(Flow flow, long bytes) {
        flow.pending += bytes;
        distributor.updateStreamableBytes(flow);
    }

    private boolean distribute(int maxBytes) throws Http2Exception {
        return distributor.distribute(maxBytes, (stream, bytes) -> {
            Flow flow = flow(stream.id());
            flow.pending -= bytes;
            flow.window -= bytes;
            flow.ending = false;
            written.add(stream.id() + ":" + (bytes % 1024 == 0 ? bytes / 1024 + "K" : bytes));
            distributor.updateStreamableBytes(flow);
        });
    }

    /** Streams as "id/urgency", with "i" if incremental, each with 32 KiB; the order of the streams that send 16 KiB. */
    @ParameterizedTest
    @CsvSource({
        "1/3 3/3 5/3, 1 1 3 3 5 5",
        "5/3 3/3 1/3, 1 1 3 3 5 5",
        "1/7 3/3 5/0, 5 5 3 3 1 1",
        "1/3i 3/3i 5/3i, 1 3 5 1 3 5",
        "1/7i 3/0i 5/0i, 3 5 3 5 1 1",
        "1/4i 3/4i 5/4 7/4, 1 5 3 5 1 7 3 7",
        "1/5 3/5i 5/1, 5 5 3 1 3 1",
        "1/0 3/1 5/2 7/3 9/4 11/5 13/6 15/7, 1 1 3 3 5 5 7 7 9 9 11 11 13 13 15 15"
    })
    void streamsSendInOrder(String streams, String order) throws Http2Exception {
        String[] all = streams.split(" ");
        for (String each : all) {
            Flow flow = openUpTo(Integer.parseInt(each.substring(0, each.indexOf('/'))));
            int urgency = each.charAt(each.indexOf('/') + 1) - '0';
            distributor.prioritise(flow.stream, urgency, each.endsWith("i"));
            pend(flow, 2 * CHUNK);
        }
        for (int i = 0; i < 2 * all.length; i++) {
            assertEquals(i < 2 * all.length - 1, distribute(CHUNK));
        }
        assertEquals(order.replaceAll("(\\d+)", "$1:16K"), String.join(" ", written));
    }

    /** Client's streams are opened in order, whatever the order in which they come to have something. */
    private Flow openUpTo(int id) throws Http2Exception {
        for (int next = 1; next <= 15; next += 2) {
            if (!flows.containsKey(next)) {
                open(next);
            }
        }
        return flow(id);
    }

    @Test
    void whoIsAloneMaySendAllThatThereIsRoomFor() throws Http2Exception {
        pend(open(1), 1 << 20);
        assertTrue(distribute(64 * 1024));
        assertEquals(List.of("1:64K"), written);
    }

    @Test
    void aStreamMayBeRaisedOverOthersWhileItWaits() throws Http2Exception {
        pend(open(1), CHUNK);
        pend(open(3), CHUNK);
        Flow raised = open(5);
        pend(raised, CHUNK);
        distributor.prioritise(raised.stream, 1, true);
        assertFalse(distribute(1 << 20));
        assertEquals(List.of("5:16K", "1:16K", "3:16K"), written);
    }

    @Test
    void anEndWithoutBytesNeedsNoWindowAndNoTurn() throws Http2Exception {
        pend(open(1), 4 * CHUNK);
        Flow ending = open(3);
        ending.ending = true;
        ending.window = 0;
        distributor.prioritise(ending.stream, 7, false);
        distributor.updateStreamableBytes(ending);
        assertTrue(distribute(0));
        assertEquals(List.of("3:0K"), written);
    }

    @Test
    void aStreamWithoutWindowStandsInNobodysWay() throws Http2Exception {
        Flow urgent = open(1);
        urgent.window = CHUNK;
        distributor.prioritise(urgent.stream, 0, false);
        pend(urgent, 2 * CHUNK);
        pend(open(3), CHUNK);
        assertFalse(distribute(1 << 20));
        assertEquals(List.of("1:16K", "3:16K"), written);
        urgent.window = -5;
        distributor.updateStreamableBytes(urgent);
        assertFalse(distribute(1 << 20));
        urgent.window = 100;
        distributor.updateStreamableBytes(urgent);
        assertFalse(distribute(1 << 20));
        assertEquals(List.of("1:16K", "3:16K", "1:100"), written);
    }

    @Test
    void aStreamThatClosesGivesItsPlaceUp() throws Http2Exception {
        Flow closing = open(1);
        pend(closing, CHUNK);
        pend(open(3), CHUNK);
        closing.stream.close();
        assertFalse(distribute(1 << 20));
        assertEquals(List.of("3:16K"), written);
    }

    /** One endless stream is more urgent than all, and another stands before two of its own urgency. */
    @Test
    void nobodyStarves() throws Http2Exception {
        distributor.prioritise(open(1).stream, 0, false);
        for (int id : new int[] {3, 5, 7}) {
            distributor.prioritise(open(id).stream, 6, false);
        }
        for (Flow flow : flows.values()) {
            pend(flow, 1 << 29);
        }
        for (int i = 0; i < 170; i++) {
            distribute(CHUNK);
        }
        long urgent = written.stream().filter("1:16K"::equals).count();
        assertTrue(urgent >= 159 && urgent <= 161, "the urgent one sent " + urgent);
        for (int id : new int[] {3, 5, 7}) {
            long chunks = written.stream().filter((id + ":16K")::equals).count();
            assertTrue(chunks == 3 || chunks == 4, id + " sent " + chunks);
        }
    }

    @Test
    void whateverHappensEachByteIsSentOnceAndNothingIsForgotten() throws Http2Exception {
        Random random = new Random(9218);
        for (int id = 1; id < 200; id += 2) {
            open(id).window = 0;
        }
        for (int i = 0; i < 20_000; i++) {
            Flow flow = flow(2 * random.nextInt(100) + 1);
            switch (random.nextInt(4)) {
                case 0 -> pend(flow, random.nextInt(40_000));
                case 1 -> {
                    int more = random.nextInt(40_000) - 10_000;
                    flow.window += more;
                    distributor.updateStreamableBytes(flow);
                }
                case 2 -> distributor.prioritise(flow.stream, random.nextInt(8), random.nextBoolean());
                default -> {
                    int room = random.nextInt(100_000);
                    long before = streamable();
                    boolean more = distribute(room);
                    assertEquals(Math.min(room, before), before - streamable());
                    assertEquals(streamable() > 0, more);
                }
            }
        }
    }

    private long streamable() {
        return flows.values().stream()
                .mapToLong(flow -> Math.max(0, Math.min(flow.pending, flow.window)))
                .sum();
    }
}
