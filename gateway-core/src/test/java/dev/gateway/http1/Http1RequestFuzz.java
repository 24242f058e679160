package dev.gateway.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.http1.Downstream.Received;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.PathNormalizer;
import dev.gateway.message.RequestHead;
import dev.gateway.message.RequestRules;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.FuzzInput;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a client sends to a server connection, and what is forwarded of it. The first control byte says whether the requests
 * are answered at once (0) or after all has come (1). Then follows how the bytes are cut.
 */
final class Http1RequestFuzz {
    private static final int MAX_LINE = 256;
    private static final int MAX_FIELDS = 1024;
    private static final Http1ServerSettings.Timeouts TIMEOUTS =
            new Http1ServerSettings.Timeouts(1_000, 2_000, 5_000, 0, 3_000);
    private static final Http1ServerSettings SMALL =
            new Http1ServerSettings(new HeadLimits(MAX_LINE, MAX_FIELDS, 20), TIMEOUTS, false);

    /** Has room for what a forwarded head has more than a received one. */
    private static final Http1ServerSettings LARGE =
            new Http1ServerSettings(new HeadLimits(4 * MAX_LINE, 4 * MAX_FIELDS, 40), TIMEOUTS, false);

    /** What a connection may hold besides what was read last: a head, its copy as it grows, and some objects. */
    private static final int MOST_HELD = 4 * (MAX_LINE + MAX_FIELDS) + 2048;

    private Http1RequestFuzz() {}

    public static void fuzzerTestOneInput(byte[] bytes) {
        FuzzInput input = new FuzzInput(bytes);
        boolean late = (input.control() & 1) != 0;
        FuzzInput.Cut cut = input.cut();
        byte[] sent = input.rest();
        Client whole = new Client(List.of(sent), late);
        Client pieces = new Client(cut.pieces(sent), late);
        assertEquals(whole.answers + whole.server.outcome(), pieces.answers + pieces.server.outcome());
        whole.checkRefusal();
        whole.server.finish();
        pieces.server.finish();
        for (Received request : whole.server.requests) {
            if (request.refused == null && request.reset == null && isForwarded(request)) {
                checkForwarded(request);
            }
        }
    }

    /** A client that sends pieces and takes the answers. */
    private static final class Client {
        final Downstream server = new Downstream(SMALL);
        String answers = "";

        Client(List<byte[]> pieces, boolean late) {
            int total = 0;
            if (late) {
                server.answer = request -> {};
            }
            for (byte[] piece : pieces) {
                server.send(new String(piece, StandardCharsets.ISO_8859_1));
                answers += server.sent();
                total += piece.length;
                long held = server.memory.held() + server.account.held();
                int most = MOST_HELD + (late ? total : piece.length);
                assertTrue(held <= most, () -> held + " bytes held, instead of " + most);
            }
            if (late) {
                answerAll();
            }
        }

        /** Answers the complete requests, which makes the connection look at those behind them. */
        private void answerAll() {
            for (int i = 0; i < server.requests.size(); i++) {
                Received request = server.requests.get(i);
                if (request.complete && request.refused == null && request.reset == null) {
                    Downstream.echo(request);
                    answers += server.sent();
                }
            }
        }

        /** A request that breaks the rules is answered with an error of the client, and is the last one. */
        void checkRefusal() {
            for (Received request : server.requests) {
                if (request.refused == null && request.reset == null) {
                    continue;
                }
                assertEquals(server.last(), request, "nothing follows a refusal");
                assertFalse(request.complete);
                int status = request.refused != null ? request.refused.status() : request.reset.status();
                assertTrue((status >= 400 && status < 500) || status == 501 || status == 505, () -> "status " + status);
                assertTrue(answers.contains("HTTP/1.1 " + status + " "), answers);
                assertTrue(answers.endsWith("\r\nConnection: close\r\n\r\n"), answers);
                assertFalse(server.channel.isOpen());
            }
        }
    }

    private static boolean isForwarded(Received request) {
        RequestHead head = request.head;
        assertNotNull(head);
        // Without a host, as HTTP/1.0 allows, the gateway forwards an empty one, which it does not accept itself.
        if (RequestRules.problem(head) != null || head.authority().isEmpty()) {
            return false;
        }
        AsciiString path = PathNormalizer.normalize(head.path());
        if (path == null) {
            return false;
        }
        assertEquals(path, PathNormalizer.normalize(path));
        head.setPath(path);
        head.wishFor(null);
        return request.complete || head.isConnect();
    }

    /** A server that is as strict as the gateway reads what is forwarded as the same request, and would forward the same. */
    private static void checkForwarded(Received request) {
        String forwarded = forward(request);
        Downstream server = new Downstream(LARGE);
        server.send(forwarded);
        assertEquals(1, server.requests.size(), forwarded);
        Received read = server.last();
        assertNull(read.refused, forwarded);
        assertNull(read.reset, forwarded);
        assertEquals(request.complete, read.complete, forwarded);
        RequestHead head = read.head;
        assertNotNull(head);
        if (head.protocol() == null) {
            assertEquals(forwarded, forward(read));
        }
        assertEquals(text(request), text(read), forwarded);
        server.sent();
        server.finish();
    }

    private static String forward(Received request) {
        RequestHead head = request.head;
        assertNotNull(head);
        Fields fields = head.fields();
        HopByHop.stripRequest(fields);
        HopByHop.stripCredentials(fields);
        Fields trailers = request.trailers;
        boolean empty = request.body.isEmpty() && trailers == null;
        boolean last = empty && !head.isConnect();
        Upstream upstream = new Upstream();
        Upstream.Received exchange = upstream.open();
        exchange.stream().head(head.copy(), last);
        if (!empty) {
            exchange.stream().data(Buffers.of(request.body.toString()), trailers == null);
        }
        if (trailers != null) {
            HopByHop.stripTrailers(trailers);
            exchange.stream().trailers(trailers);
        }
        exchange.stream().flush();
        String sent = upstream.sent();
        upstream.finish();
        return sent;
    }

    private static String text(Received request) {
        RequestHead head = request.head;
        assertNotNull(head);
        Fields fields = head.fields();
        fields.remove(FieldName.HOST);
        fields.remove(FieldName.CONTENT_LENGTH);
        return request.headText() + request.body + text(request.trailers);
    }

    private static String text(@Nullable Fields trailers) {
        return trailers == null ? "" : trailers.toString();
    }
}
