package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StatusLineTest {
    @Test
    void theUsualReasonTakesTheLineThatIsEncodedAlready() {
        assertSame(StatusLine.of(head(404, null)), StatusLine.of(head(404, AsciiString.of("Not Found"))));
        assertEquals("HTTP/1.1 404 Not Found\r\n", line(404, null));
    }

    @Test
    void anotherReasonIsForwardedWhateverItsLength() {
        assertEquals("HTTP/1.1 404 No\r\n", line(404, AsciiString.of("No")));
        assertEquals("HTTP/1.1 404 Not found\r\n", line(404, AsciiString.of("Not found")));
        assertEquals("HTTP/1.1 404 Nothing of this name\r\n", line(404, AsciiString.of("Nothing of this name")));
        assertEquals("HTTP/1.1 404 \r\n", line(404, AsciiString.EMPTY_STRING));
    }

    @Test
    void aReasonWithinALongerArrayIsForwardedAlone() {
        byte[] head = "HTTP/1.1 200 Fine\r\nA: b".getBytes(StandardCharsets.ISO_8859_1);
        assertEquals("HTTP/1.1 200 Fine\r\n", line(200, new AsciiString(head, 13, 4, false)));
    }

    @Test
    void bytesBeyondAsciiStay() {
        byte[] reason = {(byte) 0xe9, (byte) 0xff};
        assertEquals("HTTP/1.1 200 \u00e9\u00ff\r\n", line(200, new AsciiString(reason)));
    }

    private static String line(int status, @Nullable AsciiString reason) {
        return new String(StatusLine.of(head(status, reason)), StandardCharsets.ISO_8859_1);
    }

    private static ResponseHead head(int status, @Nullable AsciiString reason) {
        return new ResponseHead(status, reason, new Fields(), 0);
    }
}
