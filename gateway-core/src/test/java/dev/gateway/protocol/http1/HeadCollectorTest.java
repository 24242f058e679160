package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.protocol.http1.HeadCollector.Kind;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Each bound at its edge: as much as there may be, and one byte more, at once and in two pieces cut anywhere. */
class HeadCollectorTest {
    private static final int FIRST_LINE = 20;
    private static final int FIELDS = 30;
    private static final HeadLimits LIMITS = new HeadLimits(FIRST_LINE, FIELDS, 5);
    private static final String BEFORE = "before";
    private static final String BEHIND = "behind";

    /** Collects a text that stands amid other bytes, cut in two if the cut is in it. */
    private static String collect(HeadCollector collector, String text, int cut) {
        return collect(collector, text, cut, BEHIND);
    }

    private static String collect(HeadCollector collector, String text, int cut, String behind) {
        ByteBuf first = Buffers.of(BEFORE + text.substring(0, cut) + (cut == text.length() ? behind : ""));
        first.skipBytes(BEFORE.length());
        Progress progress = collector.collect(first);
        int left = first.readableBytes();
        first.release();
        if (progress == Progress.MORE && cut < text.length()) {
            assertEquals(0, left);
            ByteBuf second = Buffers.of(BEFORE + text.substring(cut) + behind);
            second.skipBytes(BEFORE.length());
            progress = collector.collect(second);
            left = second.readableBytes();
            second.release();
        }
        if (progress == Progress.REFUSED) {
            return collector.violation().name();
        }
        assertEquals(progress == Progress.COMPLETE ? behind.length() : 0, left, "takes nothing beyond");
        return progress.name();
    }

    private static void assertCollected(Kind kind, String text, String expected) {
        for (int cut = 1; cut <= text.length(); cut++) {
            HeadCollector collector = new HeadCollector(LIMITS, kind);
            assertEquals(expected, collect(collector, text, cut), text + " cut at " + cut);
            if (expected.equals("COMPLETE")) {
                String taken = new String(collector.bytes(), 0, collector.end(), StandardCharsets.ISO_8859_1);
                assertEquals(text.replaceFirst("^(\r\n)+", kind == Kind.REQUEST ? "" : "$0"), taken);
                assertEquals(taken.split("\n", -1).length - 1, collector.lines());
                assertTrue(collector.heldBytes() >= collector.end());
                assertTrue(collector.isStarted());
                collector.reset();
                assertFalse(collector.isStarted());
                assertEquals(0, collector.heldBytes());
                assertEquals(0, collector.lines());
            }
        }
    }

    private static String line(int length) {
        return "GET /" + "x".repeat(length - 7) + "\r\n";
    }

    /** Field lines of so many bytes, the empty line included. */
    private static String fields(int length) {
        return "A: b\r\nC: " + "d".repeat(length - 13) + "\r\n\r\n";
    }

    @ParameterizedTest
    @EnumSource(names = {"REQUEST", "RESPONSE"})
    void aFirstLineAtItsLimitIsTaken(Kind kind) {
        assertCollected(kind, line(FIRST_LINE) + "\r\n", "COMPLETE");
        assertCollected(kind, line(FIRST_LINE) + fields(FIELDS), "COMPLETE");
        assertCollected(kind, line(FIRST_LINE + 1) + "\r\n", "LINE_TOO_LONG");
        assertCollected(kind, line(FIRST_LINE + 1) + fields(FIELDS), "LINE_TOO_LONG");
    }

    @ParameterizedTest
    @EnumSource(names = {"REQUEST", "RESPONSE"})
    void fieldsAtTheirLimitAreTaken(Kind kind) {
        assertCollected(kind, line(10) + fields(FIELDS), "COMPLETE");
        assertCollected(kind, line(10) + fields(FIELDS + 1), "FIELDS_TOO_LARGE");
        assertCollected(kind, line(FIRST_LINE) + fields(FIELDS + 1), "FIELDS_TOO_LARGE");
    }

    @Test
    void soAreTrailers() {
        assertCollected(Kind.REQUEST_TRAILERS, fields(FIELDS), "COMPLETE");
        assertCollected(Kind.REQUEST_TRAILERS, fields(FIELDS + 1), "FIELDS_TOO_LARGE");
        assertCollected(Kind.REQUEST_TRAILERS, "\r\n", "COMPLETE");
        String one = "A: " + "b".repeat(FIELDS - 7) + "\r\n\r\n"; // longer than a first line may be
        assertCollected(Kind.REQUEST_TRAILERS, one, "COMPLETE");
    }

    /** What never ends is refused as soon as it can be told, and not collected for ever. */
    @ParameterizedTest
    @CsvSource({"REQUEST, 19, MORE", "REQUEST, 20, LINE_TOO_LONG", "RESPONSE, 19, MORE", "RESPONSE, 20, LINE_TOO_LONG"})
    void aFirstLineWithoutAnEnd(Kind kind, int length, String expected) {
        HeadCollector collector = new HeadCollector(LIMITS, kind);
        assertEquals(expected, collect(collector, "GET /" + "x".repeat(length - 5), 3, ""));
    }

    @ParameterizedTest
    @CsvSource({
        "REQUEST, 30, MORE",
        "REQUEST, 31, FIELDS_TOO_LARGE",
        "REQUEST_TRAILERS, 30, MORE",
        "REQUEST_TRAILERS, 31, FIELDS_TOO_LARGE"
    })
    void fieldsWithoutAnEnd(Kind kind, int length, String expected) {
        HeadCollector collector = new HeadCollector(LIMITS, kind);
        String first = kind == Kind.REQUEST ? line(10) : "";
        assertEquals(expected, collect(collector, first + "A: " + "b".repeat(length - 3), first.length() + 2, ""));
    }

    /** A line that is too long is all method if it has no space, wherever that would have come. */
    @ParameterizedTest
    @CsvSource({
        "aaaaaaaaaaaaaaaaaaaaaaaaa, METHOD_TOO_LONG",
        "a aaaaaaaaaaaaaaaaaaaaaaa, LINE_TOO_LONG",
        "aaaa aaaaaaaaaaaaaaaaaaaa, LINE_TOO_LONG",
        "aaaaaaaaaaaaaaaaaa aaaaaa, LINE_TOO_LONG",
    })
    void aMethodThatIsTooLong(String line, String expected) {
        for (int cut = 1; cut < FIRST_LINE - 1; cut++) {
            assertEquals(expected, collect(new HeadCollector(LIMITS, Kind.REQUEST), line, cut), "cut at " + cut);
            assertEquals(expected, collect(new HeadCollector(LIMITS, Kind.REQUEST), line + "\r\n\r\n", cut));
            assertEquals("LINE_TOO_LONG", collect(new HeadCollector(LIMITS, Kind.RESPONSE), line, cut));
        }
    }

    @Test
    void emptyLinesBeforeARequestAreFewAndNoPartOfItsLimits() {
        String head = line(FIRST_LINE) + fields(FIELDS);
        assertCollected(Kind.REQUEST, "\r\n" + head, "COMPLETE");
        assertCollected(Kind.REQUEST, "\r\n\r\n\r\n\r\n" + head, "COMPLETE");
        assertCollected(Kind.REQUEST, "\r\n\r\n\r\n\r\n\r\n" + head, "BAD_REQUEST_LINE");
        assertCollected(Kind.RESPONSE, "\r\n" + head, "BAD_STATUS_LINE");
    }

    @Test
    void anEmptyLineAloneIsNoBeginning() {
        HeadCollector collector = new HeadCollector(LIMITS, Kind.REQUEST);
        ByteBuf in = Buffers.of("\r\n");
        assertEquals(Progress.MORE, collector.collect(in));
        in.release();
        assertFalse(collector.isStarted());
    }

    @ParameterizedTest
    @EnumSource(names = {"REQUEST", "REQUEST_TRAILERS"})
    void ofClientsEveryLfFollowsACr(Kind kind) {
        String first = kind.isTrailers() ? "" : line(10);
        assertCollected(kind, first + "A: b\nC: d\r\n\r\n", "BARE_LF");
        assertCollected(kind, first + "A: b\r\n\n", "BARE_LF");
        assertCollected(kind, "\n" + first + "A: b\r\n\r\n", "BARE_LF");
    }

    /** What is behind the collector finds CRLF everywhere, wherever the input is cut. */
    @ParameterizedTest
    @EnumSource(names = {"RESPONSE", "RESPONSE_TRAILERS"})
    void ofUpstreamsEveryLfGetsItsCr(Kind kind) {
        String first = kind.isTrailers() ? "" : line(10);
        String text = first + "A: b\r\nC: d\r\n\r\n";
        for (String sent :
                List.of(text.replace("\r", ""), text.replace("b\r", "b"), text.replace("\r\n\r\n", "\r\n\n"), text)) {
            for (int cut = 1; cut <= sent.length(); cut++) {
                HeadCollector collector = new HeadCollector(LIMITS, kind);
                assertEquals("COMPLETE", collect(collector, sent, cut), "cut at " + cut);
                String taken = new String(collector.bytes(), 0, collector.end(), StandardCharsets.ISO_8859_1);
                assertEquals(text, taken, "cut at " + cut);
                assertEquals(text.split("\n", -1).length - 1, collector.lines());
            }
        }
        assertEquals("COMPLETE", collect(new HeadCollector(LIMITS, Kind.RESPONSE_TRAILERS), "\n", 1));
    }

    /** The CR that is added counts, so that lines without it take no more memory. */
    @Test
    void aLineWithoutCrCountsLikeOneWithIt() {
        String atLimit = line(10) + "a\n".repeat((FIELDS - 2) / 3);
        assertEquals("MORE", collect(new HeadCollector(LIMITS, Kind.RESPONSE), atLimit, atLimit.length(), ""));
        String beyond = atLimit + "abc\n";
        assertEquals("FIELDS_TOO_LARGE", collect(new HeadCollector(LIMITS, Kind.RESPONSE), beyond, beyond.length()));
    }

    /** What comes byte by byte would else be copied once for each, or take a multiple of its size. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void whatComesByteByByteIsCopiedSeldomAndTakesLittleMore(Kind kind) {
        HeadCollector collector = new HeadCollector(HeadLimits.DEFAULT, kind);
        String text = (kind.isTrailers() ? "" : "GET / HTTP/1.1\r\n") + "A: " + "b".repeat(20_000);
        byte[] before = collector.bytes();
        int copies = 0;
        for (byte b : text.getBytes(StandardCharsets.ISO_8859_1)) {
            assertEquals(Progress.MORE, collector.collect(Unpooled.wrappedBuffer(new byte[] {b})));
            copies += collector.bytes() == before ? 0 : 1;
            before = collector.bytes();
            assertTrue(collector.heldBytes() <= collector.end() + Math.max(256, collector.end() / 4));
        }
        assertEquals(text.length(), collector.end());
        assertTrue(copies < 25, "copied " + copies + " times");
    }

    /** Exchanges add fields to requests, seldom to responses; where there is room nothing is copied for them. */
    @ParameterizedTest
    @CsvSource({"REQUEST, 256", "RESPONSE, 64", "REQUEST_TRAILERS, 64"})
    void thereIsRoomForFieldsThatAreAdded(Kind kind, int room) {
        HeadCollector collector = new HeadCollector(LIMITS, kind);
        String text = (kind.isTrailers() ? "" : line(FIRST_LINE)) + fields(FIELDS);
        assertEquals("COMPLETE", collect(collector, text, text.length()));
        assertEquals(collector.end() + room, collector.heldBytes());
    }
}
