package dev.gateway.protocol.http1;

import dev.gateway.message.ReasonPhrase;
import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Status lines, encoded beforehand for the registered codes (RFC 9110, section 15). */
final class StatusLine {
    private static final int PREFIX = "HTTP/1.1 200 ".length();
    private static final byte[][] LINES = new byte[1000][];

    static {
        for (int status = 0; status < LINES.length; status++) {
            LINES[status] = line(status, ReasonPhrase.of(status));
        }
    }

    private StatusLine() {}

    private static byte[] line(int status, String reason) {
        return ("HTTP/1.1 " + status + " " + reason + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns the line of a response, with the reason phrase its sender gave it if that is not the usual one. */
    static byte[] of(ResponseHead head) {
        byte[] line = LINES[head.status()];
        AsciiString reason = head.reason();
        return reason == null || isReason(line, reason) ? line : with(line, reason);
    }

    private static byte[] with(byte[] line, AsciiString reason) {
        int end = PREFIX + reason.length();
        byte[] own = Arrays.copyOf(line, end + 2);
        System.arraycopy(reason.array(), reason.arrayOffset(), own, PREFIX, reason.length());
        own[end] = '\r';
        own[end + 1] = '\n';
        return own;
    }

    private static boolean isReason(byte[] line, AsciiString reason) {
        int length = reason.length();
        if (line.length != PREFIX + length + 2) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (line[PREFIX + i] != reason.byteAt(i)) {
                return false;
            }
        }
        return true;
    }
}
