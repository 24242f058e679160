package dev.gateway.protocol.http2;

import static dev.gateway.protocol.http2.Frames.frame;
import static dev.gateway.protocol.http2.Frames.get;
import static dev.gateway.protocol.http2.Frames.number;
import static dev.gateway.protocol.http2.Frames.post;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.SourceAddress;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Each attack ends its own connection with ENHANCE_YOUR_CALM; another connection of the same listener goes on. */
class Http2AbuseTest {
    private static final int ENHANCE_YOUR_CALM = 11;
    private static final int PROTOCOL_ERROR = 1;
    private static final int REFUSED_STREAM = 7;
    private static final int CANCEL = 8;

    private final RawClient attacker = new RawClient();
    private final RawClient other = new RawClient();

    @AfterEach
    void othersGoOn() {
        other.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, get());
        other.request(0).server().head(Http2ConnectionsTest.response(200), true);
        other.request(0).server().flush();
        other.collect();
        assertNotNull(other.first(Frames.HEADERS, 1));
        assertEquals(List.of(), other.counts.violations);
        attacker.close();
        other.close();
        assertEquals(attacker.counts.opened, attacker.counts.closed);
    }

    private void flood(int limit, IntFunction<ByteBuf[]> frames) {
        for (int i = 0; i < limit && attacker.first(Frames.GOAWAY, 0) == null; i++) {
            attacker.send(frames.apply(i));
        }
    }

    private void assertEnded(Http2Violation violation) {
        assertEquals(ENHANCE_YOUR_CALM, attacker.goAway());
        assertTrue(attacker.counts.violations.contains(violation.kind()), attacker.counts.violations.toString());
        attacker.advance(1_000);
        assertFalse(attacker.channel.isOpen());
    }

    private static ByteBuf[] one(int type, int flags, int stream, byte... payload) {
        return new ByteBuf[] {frame(type, flags, stream, payload)};
    }

    @Test
    void rapidReset() {
        flood(1_000, i -> new ByteBuf[] {
            frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, get()),
            frame(Frames.RST_STREAM, 0, 2 * i + 1, number(CANCEL))
        });
        assertEnded(Http2Violation.RAPID_RESET);
        assertTrue(attacker.recorder.requests.stream().allMatch(request -> request.failure != null));
    }

    /** All frames of a read are judged before the first is handled, so GOAWAY may say that none of its requests was taken. */
    @Test
    void aRequestThatIsReadTogetherWithAFloodIsNotTakenAndMayBeSentAgain() {
        attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, get());
        ByteBuf[] frames = new ByteBuf[FloodGuard.MAX_SETTINGS + 2];
        frames[0] = frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 3, get());
        Arrays.setAll(frames, i -> i == 0 ? frames[0] : frame(Frames.SETTINGS, 0, 0));
        attacker.send(frames);

        assertEnded(Http2Violation.SETTINGS_FLOOD);
        assertEquals(1, attacker.recorder.requests.size());
        assertEquals(1, Objects.requireNonNull(attacker.first(Frames.GOAWAY, 0)).number(0));
    }

    @Test
    void rapidResetOfRequestsWithTrailers() {
        flood(FloodGuard.MAX_RESETS + 1, i -> new ByteBuf[] {
            frame(Frames.HEADERS, Frames.END_HEADERS, 2 * i + 1, post()),
            frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, Frames.block("x", "y")),
            frame(Frames.RST_STREAM, 0, 2 * i + 1, number(CANCEL))
        });
        assertEnded(Http2Violation.RAPID_RESET);
    }

    @Test
    void rapidResetOfEverySecondRequest() {
        flood(FloodGuard.MAX_RESETS_OF_HALF + 1, i -> {
            attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 4 * i + 1, get());
            answer(2 * i);
            return new ByteBuf[] {
                frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 4 * i + 3, get()),
                frame(Frames.RST_STREAM, 0, 4 * i + 3, number(CANCEL))
            };
        });
        assertEnded(Http2Violation.RAPID_RESET);
    }

    /** What an earlier window of time has earned, say by a thousand requests that were answered, counts for nothing now. */
    @Test
    void rapidResetAfterALongTimeOfGoodBehavior() {
        for (int i = 0; i < 4 * FloodGuard.MAX_RESETS; i++) {
            attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, get());
            answer(i);
        }
        attacker.advance(11_000);
        int first = 8 * FloodGuard.MAX_RESETS + 1;
        flood(2 * FloodGuard.MAX_RESETS + 2, i -> new ByteBuf[] {
            frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, first + 2 * i, get()),
            frame(Frames.RST_STREAM, 0, first + 2 * i, number(CANCEL))
        });
        assertEnded(Http2Violation.RAPID_RESET);
    }

    /** A page of 256 tiles that is left before any of them has come, twice in ten seconds, and two that are left later. */
    @Test
    void aBrowserThatGivesUpAllItHasAskedForIsNoFlood() {
        int id = 1;
        for (int page = 0; page < 4; page++) {
            int first = id;
            for (int i = 0; i < 256; i++, id += 2) {
                attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, id, get());
            }
            attacker.advance(page < 2 ? 100 : 5_001);
            for (int i = first; i < id; i += 2) {
                attacker.send(Frames.RST_STREAM, 0, i, number(CANCEL));
            }
        }
        assertEquals(List.of(), attacker.counts.violations);
        assertTrue(attacker.channel.isOpen());
        assertEquals(1_024, attacker.recorder.requests.size());
    }

    /** Calls with a deadline whose upstream hangs: each has waited for its answer, so few can follow one another. */
    @Test
    void callsWithADeadlineThatAreAllGivenUpAreNoFlood() {
        int id = 1;
        for (int round = 0; round < 9; round++) {
            int first = id;
            for (int i = 0; i < 250; i++, id += 2) {
                attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, id, get());
            }
            attacker.advance(1_000);
            for (int i = first; i < id; i += 2) {
                attacker.send(Frames.RST_STREAM, 0, i, number(CANCEL));
            }
        }
        assertEquals(List.of(), attacker.counts.violations);
    }

    /** Another proxy with many clients, some of whom always give up. */
    @Test
    void aSmallPartOfVeryManyRequestsMayBeGivenUp() {
        for (int i = 0; i < 30_000; i++) {
            attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, get());
            if (i % 25 == 0) {
                attacker.send(Frames.RST_STREAM, 0, 2 * i + 1, number(CANCEL));
            } else {
                answer(i);
            }
        }
        assertEquals(List.of(), attacker.counts.violations);
        assertTrue(attacker.channel.isOpen());
    }

    @Test
    void aResetAfterEachAnswerIsNoFlood() {
        for (int i = 0; i < 2_000; i++) {
            attacker.send(Frames.HEADERS, Frames.END_HEADERS, 2 * i + 1, post());
            answer(i);
            attacker.send(Frames.RST_STREAM, 0, 2 * i + 1, number(0));
        }
        assertEquals(List.of(), attacker.counts.violations);
    }

    @Test
    void resetsOfStreamsThatAreGone() {
        attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, get());
        flood(10_000, i -> one(Frames.RST_STREAM, 0, 1, number(CANCEL)));
        assertEnded(Http2Violation.STRAY_FRAME_FLOOD);
    }

    @Test
    void tinyDataForAStreamThatWeHaveReset() {
        attacker.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        attacker.request(0).server().reset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "the test"));
        flood(10_000, i -> one(Frames.DATA, 0, 1, (byte) 1));
        assertEnded(Http2Violation.STRAY_FRAME_FLOOD);
    }

    private void answer(int request) {
        attacker.request(request).server().head(Http2ConnectionsTest.response(200), true);
        attacker.request(request).server().flush();
    }

    @Test
    void resetsProvokedByTrailersThatAreTooLarge() {
        int large = Http2ServerSettings.DEFAULT.heads().maxBytes() / 8 + 100;
        byte[] block = tableAndReferences(large, 20);
        flood(FloodGuard.MAX_PROVOKED_RESETS + 1, i -> new ByteBuf[] {
            frame(Frames.HEADERS, Frames.END_HEADERS, 2 * i + 1, post()),
            frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, block)
        });
        assertEnded(Http2Violation.PROVOKED_RESETS);
    }

    /** A large field without index, then one that goes into the table, and that again and again. */
    private static byte[] tableAndReferences(int padding, int references) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(Frames.block("p", "p".repeat(padding)));
        byte[] field = Frames.block("v", "v".repeat(3_900));
        field[0] = 0x40; // with incremental indexing
        block.writeBytes(field);
        for (int i = 0; i < references; i++) {
            block.write(0x80 | 62);
        }
        return block.toByteArray();
    }

    @Test
    void headsThatRepeatTheSameFieldsAndAreTooLarge() {
        byte[] block = tableAndReferences(Http2ServerSettings.DEFAULT.heads().maxBytes() / 8 + 100, 20);
        flood(40, i -> new ByteBuf[] {frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, block)});
        assertEnded(Http2Violation.HEADER_BOMB);
    }

    @Test
    void headsThatRepeatTheSameFieldsBeforeALargeOneInTheSameRead() {
        ByteArrayOutputStream repeating = new ByteArrayOutputStream();
        repeating.writeBytes(get());
        repeating.writeBytes(tableAndReferences(1, 10));
        byte[] large = get("p", "p".repeat(16_000));
        flood(40, i -> new ByteBuf[] {
            frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 4 * i + 1, repeating.toByteArray()),
            frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 4 * i + 3, large)
        });
        assertEnded(Http2Violation.HEADER_BOMB);
    }

    @Test
    void largeHeadsBeforeSmallOnesInTheSameReadRepeatNothing() {
        byte[] large = get("p", "p".repeat(16_000));
        for (int i = 0; i < 100; i++) {
            attacker.send(
                    frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 4 * i + 1, large),
                    frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 4 * i + 3, get()));
            answer(2 * i);
            answer(2 * i + 1);
        }
        assertEquals(List.of(), attacker.counts.violations);
        assertTrue(attacker.channel.isOpen());
    }

    @Test
    void headsThatAreTooLargeDoNotGoBeyondTheLimitOfStreams() {
        attacker.send(Frames.SETTINGS, 0, 0, (byte) 0, (byte) 4, (byte) 0, (byte) 0, (byte) 0, (byte) 0);
        attacker.recorder.holdRefused = true;
        byte[] block =
                Frames.block("p", "p".repeat(Http2ServerSettings.DEFAULT.heads().maxBytes()));
        int part = 16_000;
        for (int i = 0; i < 300; i++) {
            attacker.send(Frames.HEADERS, Frames.END_STREAM, 2 * i + 1, Arrays.copyOf(block, part));
            for (int from = part; from < block.length; from += part) {
                int to = Math.min(block.length, from + part);
                attacker.send(
                        Frames.CONTINUATION,
                        to == block.length ? Frames.END_HEADERS : 0,
                        2 * i + 1,
                        Arrays.copyOfRange(block, from, to));
            }
        }
        int limit = Http2ServerSettings.DEFAULT.streams().maxConcurrent();
        assertEquals(limit, attacker.recorder.refused.size());
        assertEquals(300 - limit, attacker.counts.sent[Frames.RST_STREAM]);
        assertEquals(REFUSED_STREAM, attacker.reset(2 * limit + 1));
        assertTrue(attacker.channel.isOpen());
    }

    @Test
    void headsThatAreTooLargeOnAStreamThatWeHaveReset() {
        attacker.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        attacker.request(0).server().reset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "the test"));
        attacker.send(Frames.HEADERS, Frames.END_HEADERS, 1, tableAndReferences(1, 0));
        byte[] references = new byte[20];
        Arrays.fill(references, (byte) (0x80 | 62));
        flood(10_000, i -> one(Frames.HEADERS, Frames.END_HEADERS, 1, references));
        assertEnded(Http2Violation.STRAY_FRAME_FLOOD);
    }

    /** A connection that holds more than its share of the memory there is, which refuses what it asks from then on. */
    private RawClient greedy() {
        Account account = new Account(new LoopBudget(new MemoryBudget(1 << 20, 1)));
        account.charge(512 * 1024);
        ConnectionInfo info = new ConnectionInfo(
                0, "test", HttpVersion.HTTP_2, SourceAddress.UNIX, SourceAddress.UNIX, null, null, account);
        RawClient client = new RawClient(info, Http2ServerSettings.DEFAULT, true);
        client.recorder.hasNoRoom = true;
        return client;
    }

    @Test
    void refusalsDoNotEndAConnectionThatMayBeAProxysWithManyClients() {
        try (RawClient proxy = greedy()) {
            for (int i = 0; i < 2_000; i++) {
                proxy.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, get());
                assertEquals(REFUSED_STREAM, proxy.reset(2 * i + 1));
                proxy.received.clear();
            }
            assertEquals(List.of(), proxy.counts.violations);
            assertTrue(proxy.channel.isOpen());
        }
    }

    @Test
    void refusedRequestsWithLargeHeads() {
        byte[] large = get("p", "p".repeat(FloodGuard.LARGE_HEAD));
        try (RawClient greedy = greedy()) {
            for (int i = 0; i < 1_000 && greedy.first(Frames.GOAWAY, 0) == null; i++) {
                greedy.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, large);
            }
            assertEquals(ENHANCE_YOUR_CALM, greedy.goAway());
            assertEquals(List.of(Http2Violation.PROVOKED_RESETS.kind()), greedy.counts.violations);
        }
    }

    @Test
    void resetsProvokedByOverflowingWindows() {
        flood(1_000, i -> new ByteBuf[] {
            frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, get()),
            frame(Frames.WINDOW_UPDATE, 0, 2 * i + 1, number(Integer.MAX_VALUE))
        });
        assertEnded(Http2Violation.PROVOKED_RESETS);
    }

    @Test
    void resetsProvokedByEmptyIncrements() {
        flood(1_000, i -> new ByteBuf[] {
            frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, get()),
            frame(Frames.WINDOW_UPDATE, 0, 2 * i + 1, number(0))
        });
        assertEnded(Http2Violation.PROVOKED_RESETS);
    }

    @Test
    void resetsProvokedByDataAfterTheEnd() {
        flood(1_000, i -> new ByteBuf[] {
            frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, get()),
            frame(Frames.DATA, 0, 2 * i + 1, new byte[1])
        });
        assertEnded(Http2Violation.PROVOKED_RESETS);
    }

    @Test
    void endlessContinuations() {
        attacker.send(Frames.HEADERS, 0, 1, get());
        flood(100_000, i -> one(Frames.CONTINUATION, 0, 1, Frames.block("a", "b")));
        assertEnded(Http2Violation.CONTINUATION_FLOOD);
        assertEquals(0, attacker.recorder.requests.size());
    }

    @Test
    void fewButEnormousContinuations() {
        attacker.send(Frames.HEADERS, 0, 1, get());
        byte[] large = new byte[16_000];
        flood(60, i -> one(Frames.CONTINUATION, 0, 1, large));
        assertEnded(Http2Violation.CONTINUATION_FLOOD);
    }

    @Test
    void settings() {
        flood(10_000, i -> one(Frames.SETTINGS, 0, 0));
        assertEnded(Http2Violation.SETTINGS_FLOOD);
    }

    @Test
    void pings() {
        flood(10_000, i -> one(Frames.PING, 0, 0, new byte[8]));
        assertEnded(Http2Violation.PING_FLOOD);
    }

    /** gRPC does so as long as there is something to measure: thousands a second where round trips are short. */
    @Test
    void aPingForEachPieceOfABodyIsNoFlood() {
        attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, get());
        ServerStream stream = attacker.request(0).server();
        stream.head(Http2ConnectionsTest.response(200), false);
        for (int i = 0; i < 3 * FloodGuard.MAX_PINGS; i++) {
            stream.data(Http2ConnectionsTest.text("x"), false);
            stream.flush();
            attacker.send(Frames.PING, 0, 0, new byte[8]);
        }
        assertEquals(List.of(), attacker.counts.violations);
        assertTrue(attacker.channel.isOpen());
    }

    @Test
    void priorities() {
        flood(10_000, i -> one(Frames.PRIORITY, 0, 1, new byte[5]));
        assertEnded(Http2Violation.PRIORITY_FLOOD);
    }

    @Test
    void emptyData() {
        attacker.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        flood(10_000, i -> one(Frames.DATA, 0, 1));
        assertEnded(Http2Violation.EMPTY_DATA_FLOOD);
    }

    @Test
    void dataThatIsPaddingOnly() {
        attacker.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        flood(10_000, i -> one(Frames.DATA, Frames.PADDED, 1, (byte) 2, (byte) 0, (byte) 0));
        assertEnded(Http2Violation.EMPTY_DATA_FLOOD);
    }

    @Test
    void paddingDoesNotMakeUpForABodyThatDoesNotCome() {
        attacker.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        for (int i = 0; i < 7; i++) {
            attacker.advance(10_000);
            attacker.send(Frames.DATA, Frames.PADDED, 1, (byte) 0);
        }
        assertNotNull(attacker.request(0).failure);
        assertEquals(CANCEL, attacker.reset(1));
    }

    @Test
    void goAways() {
        flood(1_000, i -> one(Frames.GOAWAY, 0, 0, new byte[8]));
        assertEnded(Http2Violation.GOAWAY_FLOOD);
    }

    @Test
    void acknowledgementsOfNothing() {
        flood(
                10_000,
                i -> one(i % 2 == 0 ? Frames.PING : Frames.SETTINGS, Frames.ACK, 0, new byte[i % 2 == 0 ? 8 : 0]));
        assertEnded(Http2Violation.ACK_FLOOD);
    }

    @Test
    void continuationsOfNothing() {
        flood(1_000, i -> new ByteBuf[] {
            frame(Frames.HEADERS, Frames.END_STREAM, 2 * i + 1, get()),
            frame(Frames.CONTINUATION, 0, 2 * i + 1),
            frame(Frames.CONTINUATION, Frames.END_HEADERS, 2 * i + 1),
            frame(Frames.RST_STREAM, 0, 2 * i + 1, number(CANCEL))
        });
        assertEnded(Http2Violation.CONTINUATION_FLOOD);
    }

    @Test
    void aPromiseByAClient() {
        attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, get());
        attacker.send(Frames.PUSH_PROMISE, 0, 1, number(2));
        assertEquals(PROTOCOL_ERROR, attacker.goAway());
    }

    @Test
    void windowUpdates() {
        attacker.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        flood(10_000, i -> one(Frames.WINDOW_UPDATE, 0, 0, number(1)));
        assertEnded(Http2Violation.WINDOW_UPDATE_FLOOD);
    }

    @Test
    void unknownFrames() {
        flood(10_000, i -> one(0x77, 0, 0));
        assertEnded(Http2Violation.UNKNOWN_FRAME_FLOOD);
    }

    @Test
    void aHeaderBlockThatUnpacksToManyTimesItsSize() {
        byte[] block = new byte[4_100 + 2_000];
        // A literal with incremental indexing that fills the table, then that entry again and again.
        block[0] = 0x40;
        block[1] = 1;
        block[2] = 'a';
        block[3] = 127;
        int rest = 4_000 - 127;
        block[4] = (byte) ((rest & 127) | 128);
        block[5] = (byte) (rest >> 7);
        for (int i = 6; i < 4_006; i++) {
            block[i] = 'v';
        }
        for (int i = 4_006; i < block.length; i++) {
            block[i] = (byte) (0x80 | 62);
        }
        attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, block);
        assertEnded(Http2Violation.HEADER_BOMB);
        assertEquals(0, attacker.recorder.requests.size());
    }

    @Test
    void aHeaderBlockThatIsNeverFinished() {
        attacker.send(Frames.HEADERS, 0, 1, get());
        attacker.advance(11_000);
        assertEnded(Http2Violation.SLOW_HEADERS);
    }

    @Test
    void aHeaderFrameThatComesInTrickles() {
        ByteBuf frame = frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, get());
        while (frame.readableBytes() > 1 && attacker.first(Frames.GOAWAY, 0) == null) {
            attacker.send(frame.readRetainedSlice(1));
            attacker.advance(900);
        }
        frame.release();
        assertEnded(Http2Violation.SLOW_HEADERS);
        assertEquals(0, attacker.recorder.requests.size());
    }

    @Test
    void aHeaderBlockThatBeginsLateHasItsOwnTime() {
        attacker.advance(Http2ServerSettings.DEFAULT.timeouts().idleMillis() - 1_000);
        attacker.send(Frames.HEADERS, Frames.END_STREAM, 1, get());
        attacker.advance(2_000);
        attacker.send(Frames.CONTINUATION, Frames.END_HEADERS, 1);
        assertEquals(1, attacker.recorder.requests.size());
        assertTrue(attacker.channel.isOpen());
    }

    @Test
    void aHeaderFrameThatComesInTwoPartsIsTaken() {
        ByteBuf frame = frame(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, get());
        attacker.send(frame.readRetainedSlice(20));
        attacker.advance(5_000);
        attacker.send(frame);
        attacker.advance(9_000);
        assertEquals(1, attacker.recorder.requests.size());
        assertTrue(attacker.channel.isOpen());
    }

    @Test
    void aClientThatTakesNothingOfItsResponseLosesThatStreamOnly() {
        attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, get());
        attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 3, get());
        Pair.Exchange stalled = attacker.request(0);
        stalled.server().head(Http2ConnectionsTest.response(200), false);
        while (stalled.server().isWritable()) {
            stalled.server().data(Buffers.of(new byte[10_000]), false);
            stalled.server().flush();
            attacker.collect();
        }
        attacker.advance(61_000);
        assertEquals(CANCEL, attacker.reset(1));
        assertNotNull(stalled.failure);
        assertEquals(List.of(Http2Violation.STALLED_READER.kind()), attacker.counts.violations);
        assertTrue(attacker.channel.isOpen());
    }

    @Test
    void aLastChunkThatIsNeverTakenLosesItsStreamToo() {
        attacker.send(Frames.SETTINGS, 0, 0, (byte) 0, (byte) 4, (byte) 0, (byte) 0, (byte) 0, (byte) 0);
        attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, get());
        attacker.request(0).server().head(Http2ConnectionsTest.response(200), false);
        attacker.request(0).server().data(Http2ConnectionsTest.text("all of it"), true);
        attacker.request(0).server().flush();
        attacker.collect();
        assertTrue(attacker.all(Frames.DATA, 1).isEmpty());
        attacker.advance(61_000);
        assertEquals(CANCEL, attacker.reset(1));
    }

    @Test
    void aResponseWithTrailersThatIsNeverTakenIsCutWhenMemoryRunsOut() {
        attacker.send(Frames.SETTINGS, 0, 0, (byte) 0, (byte) 4, (byte) 0, (byte) 0, (byte) 0, (byte) 0);
        attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, get());
        attacker.request(0).server().head(Http2ConnectionsTest.response(200), false);
        attacker.request(0).server().data(Buffers.of(new byte[10_000]), false);
        attacker.request(0).server().trailers(new Fields());
        attacker.request(0).server().flush();
        StalledPeers.ofThisLoop().cut(10_000, 10_000, 0);
        attacker.collect();
        assertEquals(ENHANCE_YOUR_CALM, attacker.reset(1));
    }

    /** Both had room when their end was handed over, and only the first had it when it was sent. */
    @Test
    void aResponseThatLostItsShareOfTheWindowIsCutWhenMemoryRunsOut() {
        for (int i = 0; i < 2; i++) {
            attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, get());
        }
        for (int i = 0; i < 2; i++) {
            attacker.request(i).server().head(Http2ConnectionsTest.response(200), false);
            attacker.request(i).server().data(Buffers.of(new byte[40_000]), true);
        }
        attacker.request(0).server().flush();
        attacker.advance(Http2ServerSettings.DEFAULT.timeouts().idleMillis() / 2);
        attacker.advance(Http2ServerSettings.DEFAULT.timeouts().idleMillis() / 2 + 100);
        StalledPeers.ofThisLoop().cut(10_000, 10_000, 0);
        attacker.collect();
        assertEquals(ENHANCE_YOUR_CALM, attacker.reset(3));
    }

    @Test
    void aResponseThatLostItsShareOfTheWindowToAnotherIsNotKeptForEver() {
        attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 1, get());
        attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 3, get());
        for (int i = 0; i < 2; i++) {
            attacker.request(i).server().head(Http2ConnectionsTest.response(200), false);
            attacker.request(i).server().data(Buffers.of(new byte[40_000]), true);
        }
        attacker.request(0).server().flush(); // the connection's window has room for the half of both
        for (int i = 0; i < 4; i++) {
            attacker.advance(61_000);
        }
        assertEquals(CANCEL, attacker.reset(1));
        assertEquals(CANCEL, attacker.reset(3));
    }

    @Test
    void aConnectionThatIsToCloseDoesNotWaitForEverForAClientThatReadsNothing() {
        attacker.channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
                ReferenceCountUtil.release(message); // never told to have been written
            }
        });
        attacker.advance(76_000);
        assertEquals(1, attacker.counts.idle);
        attacker.advance(61_000);
        assertFalse(attacker.channel.isOpen());
    }

    /** A client that offers to keep 4 GiB of what it was sent would have us keep as much, if Netty let it. */
    @Test
    void aTableOfHeadersAsLargeAsTheClientWants() {
        attacker.send(Frames.SETTINGS, 0, 0, (byte) 0, (byte) 1, (byte) -1, (byte) -1, (byte) -1, (byte) -1);
        for (int i = 0; i < 10; i++) {
            attacker.send(Frames.HEADERS, Frames.END_STREAM | Frames.END_HEADERS, 2 * i + 1, get());
            ResponseHead head = Http2ConnectionsTest.response(200);
            head.fields().add(FieldName.of("X-Long"), String.valueOf(i % 9).repeat(800)); // nine fill the usual table
            attacker.request(i).server().head(head, true);
            attacker.request(i).server().flush();
            attacker.collect();
        }
        Frames.Frame last = Objects.requireNonNull(attacker.first(Frames.HEADERS, 19));
        assertTrue(last.payload().readableBytes() > 400, "what was sent first is still in the table");
    }

    @Test
    void bodiesInTinyPiecesThatNobodyTakes() {
        ByteBuf[] pieces = new ByteBuf[1_000];
        for (int i = 0; i < 3; i++) {
            attacker.send(Frames.HEADERS, Frames.END_HEADERS, 2 * i + 1, post());
            attacker.request(i).keepCredit = true;
        }
        for (int i = 0; i < 70 && attacker.first(Frames.GOAWAY, 0) == null; i++) {
            for (int j = 0; j < pieces.length; j++) {
                pieces[j] = frame(Frames.DATA, 0, 2 * (i % 3) + 1, (byte) 1);
            }
            attacker.send(pieces);
        }
        assertEnded(Http2Violation.TINY_DATA_FLOOD);
    }

    /** A window bounds the bytes that wait, not the pieces in which they come. */
    @Test
    void bodiesInShortPiecesForWhichThereIsNoMemory() {
        LoopBudget budget = new LoopBudget(new MemoryBudget(1 << 20, 1));
        ConnectionInfo info = new ConnectionInfo(
                0, "test", HttpVersion.HTTP_2, SourceAddress.UNIX, SourceAddress.UNIX, null, null, new Account(budget));
        try (RawClient client = new RawClient(info, Http2ServerSettings.DEFAULT, true)) {
            ByteBuf[] pieces = new ByteBuf[1_000];
            int stream = 1;
            for (; client.first(Frames.RST_STREAM, stream - 2) == null && stream < 40; stream += 2) {
                client.send(Frames.HEADERS, Frames.END_HEADERS, stream, post());
                client.request(stream / 2).keepCredit = true;
                for (int i = 0; i < pieces.length; i++) {
                    pieces[i] = frame(Frames.DATA, 0, stream, new byte[FloodGuard.TINY]);
                }
                client.send(pieces);
                assertTrue(budget.held() < 1 << 19, "it holds more than half of what there is");
            }
            assertEquals(ENHANCE_YOUR_CALM, client.reset(stream - 2));
            assertEquals(
                    Cause.OVERLOAD,
                    Objects.requireNonNull(client.request(stream / 2 - 1).failure)
                            .cause());
            assertEquals(List.of(), client.counts.violations);
            long held = budget.held();
            client.request(0).server().consumed(1_000 * FloodGuard.TINY);
            assertTrue(budget.held() < held - 900 * Cost.PIECE, "what was taken is still charged");
        }
        assertEquals(0, budget.held());
    }

    @Test
    void tinyPiecesThatAreTakenAreNoFlood() {
        attacker.send(Frames.HEADERS, Frames.END_HEADERS, 3, post());
        ByteBuf[] pieces = new ByteBuf[1_000];
        for (int i = 0; i < 70; i++) {
            for (int j = 0; j < pieces.length; j++) {
                pieces[j] = frame(Frames.DATA, 0, 3, (byte) 1);
            }
            attacker.send(pieces);
        }
        assertEquals(70_000, attacker.request(0).received);
        assertTrue(attacker.channel.isOpen());
    }
}
