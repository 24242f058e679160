package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.protocol.http1.Downstream.Received;
import dev.gateway.protocol.http1.RawRequests.Case;
import dev.gateway.protocol.http1.RawRequests.Verdict;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The corpus of raw requests against a server connection, sent at once and cut at every position. */
class RawRequestsTest {
    static List<Case> cases() {
        return RawRequests.read();
    }

    @Test
    void theCorpusIsThere() {
        assertTrue(cases().size() >= 150);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void getsItsVerdict(Case request) {
        Downstream client = new Downstream();
        client.send(request.bytes());
        check(request, client);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void getsTheSameVerdictWhereverItIsCut(Case request) {
        Cuts.of(request.bytes()).forEach(cut -> {
            Downstream client = new Downstream();
            client.send(request.bytes().substring(0, cut));
            client.send(request.bytes().substring(cut));
            check(request, client);
        });
    }

    @ParameterizedTest
    @MethodSource("cases")
    void getsTheSameVerdictByteByByte(Case request) {
        Downstream client = new Downstream();
        request.bytes().chars().forEach(b -> client.send(String.valueOf((char) b)));
        check(request, client);
    }

    private static void check(Case request, Downstream client) {
        boolean refused = false;
        int complete = 0;
        List<Verdict> verdicts = request.verdicts();
        String sent = client.sent();
        for (int i = 0; i < verdicts.size(); i++) {
            Verdict verdict = verdicts.get(i);
            if (verdict.status() < 0) {
                assertTrue(client.requests.size() == i || !client.requests.get(i).complete, "nothing complete");
                break;
            }
            assertTrue(client.requests.size() > i, "request " + i + " has been noticed");
            Received received = client.requests.get(i);
            if (verdict.status() > 0) {
                refused = true;
                assertFalse(received.complete, "not forwarded");
                int status = received.refused != null
                        ? received.refused.status()
                        : received.reset != null ? received.reset.status() : 0;
                assertEquals(verdict.status(), status);
                assertTrue(sent.contains("HTTP/1.1 " + status + " "), sent);
                assertTrue(sent.endsWith("\r\nConnection: close\r\n\r\n"), sent);
            } else {
                complete++;
                checkAccepted(verdict, received);
            }
        }
        if (refused) {
            assertEquals(complete + 1, client.requests.size(), "nothing follows a refusal");
        }
        boolean open = client.channel.isOpen();
        client.finish();
        assertEquals(!refused && !request.closed(), open, "open");
    }

    private static void checkAccepted(Verdict verdict, Received received) {
        assertNull(received.refused);
        RequestHead head = received.head;
        assertNotNull(head);
        assertTrue(received.complete || head.isConnect());
        String line = head.method() + " " + orDash(head.authority().toString()) + " "
                + orDash(head.path().toString());
        assertEquals(verdict.line(), line);
        assertEquals(verdict.body(), received.body.toString());
        for (String field : verdict.fields()) {
            int colon = field.indexOf(": ");
            if (colon < 0) {
                assertFalse(head.fields().contains(FieldName.of(field)), field);
            } else {
                assertTrue(head.fields().toString().contains(field + "\n"), head.fields()::toString);
            }
        }
        Fields trailers = received.trailers;
        assertEquals(
                String.join("\n", verdict.trailers()),
                trailers == null ? "" : trailers.toString().stripTrailing());
    }

    private static String orDash(String text) {
        return text.isEmpty() ? "-" : text;
    }
}
