package dev.gateway.protocol.http1;

import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.protocol.http1.HeadCollector.Kind;
import io.netty.util.AsciiString;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Parses response heads (RFC 9112, section 4), and takes some that other proxies take, too. */
final class ResponseParser extends HeadParser {
    private static final AsciiString TIMEOUT = new AsciiString("timeout=");

    private static final byte[] HTTP = {'H', 'T', 'T', 'P', '/'};
    private static final byte[] SSH = {'S', 'S', 'H', '-'};
    private static final byte TLS_ALERT = 21;
    private static final byte TLS_HANDSHAKE = 22;
    private static final byte TLS_MAJOR_VERSION = 3;
    private static final byte SETTINGS = 4;
    private static final byte GOAWAY = 7;

    private @Nullable ResponseHead head;

    ResponseParser(HeadLimits limits) {
        super(limits, Kind.RESPONSE);
    }

    /** Returns the head last parsed, null if it was refused. */
    @Nullable
    ResponseHead head() {
        return head;
    }

    @Override
    void forget() {
        super.forget();
        head = null;
    }

    @Override
    @Nullable
    Http1Violation checkStart(byte[] bytes, int end) {
        if (begins(HTTP, bytes, end)) {
            return null;
        }
        head = null;
        return foreign(bytes, end);
    }

    /** Whether the bytes are the text, or what has come of it. */
    private static boolean begins(byte[] text, byte[] bytes, int end) {
        int length = Math.min(text.length, end);
        return Arrays.equals(text, 0, length, bytes, 0, length);
    }

    /** Returns what another protocol's first bytes are called. */
    private static Http1Violation foreign(byte[] bytes, int end) {
        if (end >= SSH.length && begins(SSH, bytes, end)) {
            return Http1Violation.SSH_GREETING;
        }
        if (end > 3
                && isDigit(bytes[0])
                && isDigit(bytes[1])
                && isDigit(bytes[2])
                && (bytes[3] == ' ' || bytes[3] == '-')) {
            return Http1Violation.NUMBERED_REPLY;
        }
        if (Ascii.isToken(bytes[0])) {
            return Http1Violation.BAD_VERSION;
        }
        if ((bytes[0] == TLS_ALERT || bytes[0] == TLS_HANDSHAKE) && (end == 1 || bytes[1] == TLS_MAJOR_VERSION)) {
            return Http1Violation.TLS_RECORD;
        }
        // The length of a first frame is small.
        boolean http2 =
                bytes[0] == 0 && (end < 2 || bytes[1] == 0) && (end < 4 || bytes[3] == SETTINGS || bytes[3] == GOAWAY);
        return http2 ? Http1Violation.HTTP2_FRAME : Http1Violation.BAD_STATUS_LINE;
    }

    @Override
    @Nullable
    Http1Violation parse(byte[] bytes, int end, int lines) {
        head = null;
        int at = 0;
        while (!Ascii.isSpace(bytes[at]) && bytes[at] != '\r') {
            at++;
        }
        Http1Violation found = parseVersion(bytes, 0, at);
        if (found != null) {
            return found;
        }
        while (Ascii.isSpace(bytes[at]) && Ascii.isSpace(bytes[at + 1])) {
            at++;
        }
        // A status line without the space before an absent reason phrase is common enough.
        if (!Ascii.isSpace(bytes[at])
                || bytes[at + 1] < '1'
                || bytes[at + 1] > '9'
                || !isDigit(bytes[at + 2])
                || !isDigit(bytes[at + 3])
                || (!Ascii.isSpace(bytes[at + 4]) && bytes[at + 4] != '\r')) {
            return Http1Violation.BAD_STATUS_LINE;
        }
        int status = (bytes[at + 1] - '0') * 100 + (bytes[at + 2] - '0') * 10 + bytes[at + 3] - '0';
        at += 4;
        AsciiString reason = null;
        if (Ascii.isSpace(bytes[at])) {
            int start = ++at;
            while (bytes[at] != '\r' && bytes[at] != 0) {
                if (!Ascii.isFieldValue(bytes[at])) {
                    bytes[at] = ' ';
                }
                at++;
            }
            reason = at > start ? new AsciiString(bytes, start, at - start, false) : null;
        }
        if (bytes[at] != '\r' || bytes[at + 1] != '\n') {
            return Http1Violation.BAD_STATUS_LINE;
        }
        Fields fields = new Fields(bytes, end, lines);
        found = parseFields(bytes, at + 2, fields);
        if (found == null) {
            head = new ResponseHead(status, reason, fields, contentLength());
        }
        return found;
    }

    /** Returns how long the peer says it keeps the connection (RFC 2068, section 19.7.1), -1 if it does not. */
    static long keepAliveMillis(Fields fields) {
        AsciiString value = fields.first(FieldName.KEEP_ALIVE);
        if (value == null) {
            return -1;
        }
        int start = value.toLowerCase().indexOf(TIMEOUT, 0);
        if (start < 0) {
            return -1;
        }
        int from = start + TIMEOUT.length();
        int to = from;
        while (to < value.length() && to < from + 6 && isDigit(value.byteAt(to))) {
            to++;
        }
        return to == from ? -1 : value.parseInt(from, to) * 1000L;
    }
}
