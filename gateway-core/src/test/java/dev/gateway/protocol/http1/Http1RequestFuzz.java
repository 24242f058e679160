package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.RequestHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.protocol.http1.Downstream.Received;
import dev.gateway.stream.Failure;
import dev.gateway.testing.FuzzInput;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * What a client sends to a server connection, and what is forwarded of it. The first control byte says whether the requests
 * are answered at once (0) or after all has come (1). Then follows how the bytes are cut.
 */
final class Http1RequestFuzz {
    private static final int MAX_LINE = 256;
    private static final int MAX_FIELDS = 1024;
    private static final ConnectionTimeouts TIMEOUTS = new ConnectionTimeouts(1_000, 2_000, 5_000, 0, 3_000);
    private static final Http1ServerSettings SMALL =
            new Http1ServerSettings(new HeadLimits(MAX_LINE, MAX_FIELDS, 20), TIMEOUTS, false);

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
            RequestHead head = request.head;
            if (head != null && request.refused == null && request.reset == null) {
                if (head.isConnect()) {
                    ForwardedMessages.checkTunnel(head);
                } else if (request.complete) {
                    ForwardedMessages.checkRequest(head, request.body.toString(), request.trailers);
                }
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
                Failure failure = request.refused != null ? request.refused : request.reset;
                if (failure == null) {
                    continue;
                }
                assertEquals(server.last(), request, "nothing follows a refusal");
                assertFalse(request.complete);
                int status = failure.status();
                assertTrue((status >= 400 && status < 500) || status == 501 || status == 505, () -> "status " + status);
                assertTrue(answers.contains("HTTP/1.1 " + status + " "), answers);
                assertTrue(answers.endsWith("\r\nConnection: close\r\n\r\n"), answers);
                assertFalse(server.channel.isOpen());
            }
        }
    }
}
