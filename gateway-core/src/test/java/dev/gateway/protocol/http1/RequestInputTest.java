package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is read beyond the request in progress, and of a body that nobody wants: as much as there may be, and a byte more. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class RequestInputTest {
    private static final String GET = "GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n";
    private static final int LIMIT = 64 * 1024;
    private final Downstream client = new Downstream();

    @AfterEach
    void releaseEverything() {
        client.finish();
    }

    private void post(String framing) {
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\n" + framing + "\r\n\r\n");
    }

    private void answer() {
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 0), true);
        client.last().stream.flush();
    }

    @ParameterizedTest
    @CsvSource({"0, true", "1, false"})
    void theRestOfABodyWithALength(int beyond, boolean kept) {
        int length = LIMIT + beyond;
        post("Content-Length: " + length);
        answer();
        assertEquals(kept, !client.sent().contains("Connection: close"));
        assertEquals(kept, client.channel.isOpen());
        client.send("x".repeat(length) + GET);
        assertEquals(kept ? 2 : 1, client.requests.size());
    }

    @ParameterizedTest
    @CsvSource({"0, true", "1, false"})
    void theRestOfAChunkedBody(int beyond, boolean kept) {
        post("Transfer-Encoding: chunked");
        answer();
        client.send("8000\r\n" + "x".repeat(0x8000) + "\r\n");
        client.send(Integer.toHexString(0x8000 + beyond) + "\r\n" + "x".repeat(0x8000 + beyond) + "\r\n");
        assertEquals(kept, client.channel.isOpen());
        client.send("0\r\n\r\n" + GET);
        assertEquals(kept ? 2 : 1, client.requests.size());
    }

    @Test
    void eachBodyIsCountedByItself() {
        for (int i = 1; i <= 3; i++) {
            post("Transfer-Encoding: chunked");
            answer();
            client.send("a000\r\n" + "x".repeat(0xa000) + "\r\n0\r\n\r\n");
            assertEquals(i, client.requests.size());
        }
        client.send(GET);
        assertEquals(4, client.requests.size());
    }

    @ParameterizedTest
    @CsvSource({"0, true", "1, false"})
    void whatIsReadAheadOfItsTurn(int beyond, boolean reads) {
        client.answer = request -> {};
        client.send(GET);
        client.send("x".repeat(LIMIT + beyond));
        assertEquals(reads, client.channel.config().isAutoRead());
        assertEquals(1, client.requests.size());
        client.send("x");
        assertFalse(client.channel.config().isAutoRead());
    }
}
