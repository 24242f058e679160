package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.testing.FuzzInput;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Arrays;

/**
 * Header blocks of one connection, one after the other. The first control byte says whether they are those of a client (0), or of
 * an upstream (1). Each block begins with a byte that is its length.
 */
final class HpackFuzz {
    private static final int MAX_LIST = 1024;
    private static final int MAX_FIELDS = 20;

    private HpackFuzz() {}

    public static void fuzzerTestOneInput(byte[] bytes) {
        FuzzInput input = new FuzzInput(bytes);
        boolean strict = (input.control() & 1) == 0;
        byte[] blocks = input.rest();
        HeadersDecoder decoder = new HeadersDecoder(MAX_LIST, MAX_FIELDS, strict);
        RoundTrip again = new RoundTrip(strict);
        try {
            for (int at = 0; at < blocks.length; ) {
                int end = Math.min(blocks.length, at + 1 + (blocks[at] & 0xff));
                ByteBuf block = Unpooled.wrappedBuffer(Arrays.copyOfRange(blocks, at + 1, end));
                ReceivedHeaders headers = (ReceivedHeaders) decoder.decodeHeaders(1, block);
                assertEquals(0, block.readableBytes(), "a block is read to its end");
                assertTrue(headers.unpacked() <= HeadersDecoder.READ_ON * MAX_LIST, "the size of a list is bounded");
                assertTrue(
                        headers.fields().size() <= MAX_FIELDS + 1,
                        "and so is the number of its fields"); // and the cookie
                if (!headers.isTooMany()) {
                    again.check(headers);
                }
                at = end;
            }
        } catch (Http2Exception e) {
            // The connection ends: what follows could not be decoded.
            assertTrue(e.error().code() != 0);
        }
    }

    /** A peer, which gets what was decoded over a connection of its own. */
    private static final class RoundTrip {
        private final boolean strict;
        private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
        private final HeadersDecoder decoder;
        private final SentHeaders sent = new SentHeaders();

        RoundTrip(boolean strict) {
            this.strict = strict;
            decoder = new HeadersDecoder(4 * MAX_LIST, 4 * MAX_FIELDS, strict);
        }

        void check(ReceivedHeaders headers) throws Http2Exception {
            if (strict && HeadMapper.requestProblem(headers, false) == null) {
                RequestHead head = HeadMapper.request(headers, Scheme.HTTP, false);
                ReceivedHeaders read = carry(sent.request(head, Scheme.HTTP));
                assertNull(HeadMapper.requestProblem(read, false));
                assertEquals(text(head), text(HeadMapper.request(read, Scheme.HTTP, false)));
            } else if (!strict && HeadMapper.responseProblem(headers, false) == null) {
                ResponseHead head = HeadMapper.response(headers);
                ReceivedHeaders read = carry(sent.response(head));
                assertNull(HeadMapper.responseProblem(read, false));
                assertEquals(text(head), text(HeadMapper.response(read)));
            } else if (headers.problem() == null && !headers.hasPseudo()) {
                ReceivedHeaders read = carry(sent.trailers(headers.fields()));
                assertNull(read.problem());
                assertEquals(text(headers.fields()), text(read.fields()));
            }
        }

        private ReceivedHeaders carry(Http2Headers headers) throws Http2Exception {
            ByteBuf block = Unpooled.buffer();
            encoder.encodeHeaders(1, headers, block);
            return (ReceivedHeaders) decoder.decodeHeaders(1, block);
        }

        private static String text(RequestHead head) {
            String target = head.authority() + " " + head.path() + " " + head.protocol();
            return head.method() + " " + target + " " + head.contentLength() + "\n" + text(head.fields());
        }

        private static String text(Fields fields) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < fields.size(); i++) {
                text.append(fields.lowerName(i))
                        .append(": ")
                        .append(fields.value(i))
                        .append('\n');
            }
            return text.toString();
        }

        private static String text(ResponseHead head) {
            return head.status() + " " + head.contentLength() + "\n" + text(head.fields());
        }
    }
}
