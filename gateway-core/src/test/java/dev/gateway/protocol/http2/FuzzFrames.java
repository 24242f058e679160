package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.protocol.http2.Frames.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The frames that a fuzzer has a peer send, and the rules for those that it gets. */
final class FuzzFrames {
    private static final int HEADER = 9;
    private static final int DEFAULT_WINDOW = 65_535;
    private static final int MAX_FRAME = 16_384;
    private static final int INITIAL_WINDOW_SIZE = 4;

    private FuzzFrames() {}

    /**
     * Makes frames of records, so that a change of one leaves the others what they are. A record has a byte each for the type,
     * the flags, the stream and the length of the payload, which follows.
     */
    static byte[] ofRecords(byte[] records) {
        ByteBuf out = Unpooled.buffer();
        int at = 0;
        while (at + 4 <= records.length) {
            int end = Math.min(records.length, at + 4 + (records[at + 3] & 0xff));
            byte[] payload = Arrays.copyOfRange(records, at + 4, end);
            out.writeBytes(Frames.frame(records[at] & 0xf, records[at + 1], records[at + 2] & 0xff, payload));
            at = end;
        }
        return ByteBufUtil.getBytes(out);
    }

    /** Takes the whole frames that bytes begin with. The rest may be anything. */
    static List<Frame> whole(ByteBuf bytes) {
        int end = bytes.readerIndex();
        while (bytes.writerIndex() - end >= HEADER
                && bytes.writerIndex() - end >= HEADER + bytes.getUnsignedMedium(end)) {
            end += HEADER + bytes.getUnsignedMedium(end);
        }
        return Frames.read(bytes.readSlice(end - bytes.readerIndex()));
    }

    /**
     * Checks what a connection has sent: each frame has the right form, header blocks can be decoded, nothing follows the end
     * of a stream, and no more data is sent than the peer may have permitted.
     *
     * @param sent by the connection
     * @param received by the connection
     */
    static void check(List<Frame> sent, List<Frame> received) {
        Windows windows = new Windows(received);
        Set<Integer> ended = new HashSet<>();
        DefaultHttp2HeadersDecoder hpack = new DefaultHttp2HeadersDecoder(false, 1 << 20);
        for (Frame frame : sent) {
            int length = frame.payload().readableBytes();
            assertTrue(length <= MAX_FRAME, frame::toString);
            switch (frame.type()) {
                case Frames.DATA -> {
                    assertFalse(ended.contains(frame.stream()), frame::toString);
                    windows.take(frame.stream(), length);
                }
                case Frames.HEADERS -> {
                    assertFalse(ended.contains(frame.stream()), frame::toString);
                    assertEquals(Frames.END_HEADERS, frame.flags() & (Frames.END_HEADERS | Frames.PADDED | 32));
                    decode(hpack, frame);
                }
                case Frames.RST_STREAM, Frames.WINDOW_UPDATE -> assertEquals(4, length);
                case Frames.PING -> assertEquals(8, length);
                case Frames.SETTINGS -> assertEquals(0, length % 6);
                case Frames.GOAWAY -> assertTrue(length >= 8, frame::toString);
                default -> throw new AssertionError("not sent by the gateway: " + frame);
            }
            boolean stream = frame.type() == Frames.DATA || frame.type() == Frames.HEADERS;
            if ((stream && (frame.flags() & Frames.END_STREAM) != 0) || frame.type() == Frames.RST_STREAM) {
                ended.add(frame.stream());
            }
        }
    }

    /** Whether a GOAWAY says that the peer has broken a rule. */
    static boolean isError(List<Frame> sent) {
        return sent.stream().anyMatch(frame -> frame.type() == Frames.GOAWAY && frame.number(4) != 0);
    }

    /**
     * Whether the peer says with a whole frame that it is about to go.
     *
     * @param skipped bytes before the first frame
     */
    static boolean hasGoaway(byte[] sent, int skipped) {
        ByteBuf frames = Unpooled.wrappedBuffer(sent);
        return whole(frames.skipBytes(Math.min(skipped, sent.length))).stream()
                .anyMatch(frame -> frame.type() == Frames.GOAWAY);
    }

    private static void decode(DefaultHttp2HeadersDecoder hpack, Frame frame) {
        try {
            hpack.decodeHeaders(frame.stream(), frame.payload());
        } catch (Http2Exception e) {
            throw new AssertionError(frame.toString(), e);
        }
    }

    /** How much data a peer may have permitted at most: the largest windows, and all additions. */
    private static final class Windows {
        private final Map<Integer, Long> added = new HashMap<>();
        private final Map<Integer, Long> taken = new HashMap<>();
        private long initial = DEFAULT_WINDOW;

        Windows(List<Frame> received) {
            for (Frame frame : received) {
                ByteBuf payload = frame.payload();
                if (frame.type() == Frames.WINDOW_UPDATE && payload.readableBytes() == 4) {
                    added.merge(frame.stream(), payload.getInt(0) & 0x7fffffffL, Long::sum);
                } else if (frame.type() == Frames.SETTINGS) {
                    for (int i = 0; i + 6 <= payload.readableBytes(); i += 6) {
                        if (payload.getUnsignedShort(i) == INITIAL_WINDOW_SIZE) {
                            initial = Math.max(initial, payload.getUnsignedInt(i + 2));
                        }
                    }
                }
            }
        }

        void take(int stream, int length) {
            long ofStream = taken.merge(stream, (long) length, Long::sum);
            assertTrue(ofStream <= initial + added.getOrDefault(stream, 0L), "more data than the stream's window");
            long all = taken.merge(0, (long) length, Long::sum);
            assertTrue(all <= DEFAULT_WINDOW + added.getOrDefault(0, 0L), "more data than the connection's window");
        }
    }
}
