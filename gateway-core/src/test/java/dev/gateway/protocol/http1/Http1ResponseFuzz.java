package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.ResponseHead;
import dev.gateway.protocol.http1.Upstream.Received;
import dev.gateway.stream.Cause;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.FuzzInput;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * What an upstream sends to a client connection, and what is forwarded of it. The first control byte says to which request
 * (0 to 3: GET, HEAD, POST, OPTIONS), whether the request is not complete yet (4), and whether the upstream then closes (8).
 * Then follows how the bytes are cut.
 */
final class Http1ResponseFuzz {
    private static final List<String> METHODS = List.of("GET", "HEAD", "POST", "OPTIONS");
    private static final int UNFINISHED = 4;
    private static final int CLOSES = 8;

    private static final int MAX_LINE = 256;
    private static final int MAX_FIELDS = 1024;
    private static final Http1ClientSettings SMALL =
            new Http1ClientSettings(new HeadLimits(MAX_LINE, MAX_FIELDS, 20), null);

    private Http1ResponseFuzz() {}

    public static void fuzzerTestOneInput(byte[] bytes) {
        FuzzInput input = new FuzzInput(bytes);
        int control = input.control();
        FuzzInput.Cut cut = input.cut();
        byte[] sent = input.rest();
        Exchange whole = new Exchange(control);
        whole.receive(List.of(sent));
        Exchange pieces = new Exchange(control);
        pieces.receive(cut.pieces(sent));
        assertEquals(whole.outcome(), pieces.outcome());
        whole.check();
        whole.upstream.finish();
        pieces.upstream.finish();
        if (whole.response.complete && whole.response.reset == null) {
            ForwardedMessages.checkResponse(
                    METHODS.get(control & 3),
                    whole.response.heads,
                    whole.response.body.toString(),
                    whole.response.trailers);
        }
    }

    /** A request on a connection, and what comes of it. */
    private static final class Exchange {
        final int control;
        final Upstream upstream;
        final Received response;

        Exchange(int control) {
            this.control = control;
            upstream = new Upstream(SMALL);
            response = upstream.open();
            boolean unfinished = (control & UNFINISHED) != 0;
            response.stream().head(Upstream.request(METHODS.get(control & 3), unfinished ? 5 : -1), !unfinished);
            if (unfinished) {
                response.stream().data(Buffers.of("ab"), false);
            }
            response.stream().flush();
            upstream.sent();
        }

        void receive(List<byte[]> pieces) {
            for (byte[] piece : pieces) {
                if (upstream.channel.isOpen()) {
                    upstream.respond(new String(piece, StandardCharsets.ISO_8859_1));
                }
            }
            if ((control & CLOSES) != 0) {
                upstream.channel.close();
                upstream.channel.runPendingTasks();
            }
        }

        /** Returns what has come, as a text for comparisons. */
        String outcome() {
            StringBuilder outcome = new StringBuilder();
            if (response.reset != null) {
                outcome.append("reset ").append(response.reset.cause());
            } else {
                outcome.append(response.complete ? "complete" : "incomplete");
                outcome.append('\n').append(response.body).append('\n').append(response.trailers);
            }
            for (ResponseHead head : response.heads) {
                outcome.append('\n').append(text(head));
            }
            return outcome.toString();
        }

        void check() {
            for (int i = 0; i + 1 < response.heads.size(); i++) {
                assertTrue(response.heads.get(i).isInterim(), "nothing follows a final head");
            }
            if (response.reset != null) {
                assertFalse(response.complete);
                assertEquals(0, upstream.reusable);
                assertFalse(upstream.channel.isOpen());
                assertTrue(upstream.violations.isEmpty() == (response.reset.cause() != Cause.UPSTREAM_PROTOCOL_ERROR));
            }
            if (upstream.reusable > 0) {
                assertTrue(response.complete, "a connection is not used again before its response has ended");
                assertEquals(0, control & UNFINISHED, "nor before its request has");
            }
        }
    }

    private static String text(ResponseHead head) {
        return head.status() + " " + head.reason() + "\n" + head.fields();
    }
}
