package dev.gateway.protocol.http1;

import dev.gateway.message.Ascii;
import dev.gateway.message.Authority;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import dev.gateway.protocol.http1.HeadCollector.Kind;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** Parses request heads (RFC 9112, section 3), refusing whatever two recipients might read differently. */
final class RequestParser extends HeadParser {
    private static final AsciiString ROOT = new AsciiString("/");
    private static final AsciiString ASTERISK = new AsciiString("*");
    private static final AsciiString WS = new AsciiString("ws");
    private static final AsciiString WSS = new AsciiString("wss");

    /** Fields that exchanges add, of which the first line and the empty one leave room for two. */
    private static final int ADDED = 5;

    private final AsciiString defaultScheme;
    private @Nullable RequestHead head;
    private Method method = Method.GET;
    private AsciiString scheme;
    private AsciiString path = AsciiString.EMPTY_STRING;
    private @Nullable AsciiString authority;
    private boolean absoluteForm;

    RequestParser(HeadLimits limits, AsciiString defaultScheme) {
        super(limits, Kind.REQUEST);
        this.defaultScheme = defaultScheme;
        this.scheme = defaultScheme;
    }

    /** Returns the head last parsed; what could be made out of it, or null, if it was refused. */
    @Nullable
    RequestHead head() {
        return head;
    }

    @Override
    void forget() {
        super.forget();
        head = null;
        authority = null;
        path = AsciiString.EMPTY_STRING;
        method = Method.GET;
    }

    @Override
    @Nullable
    Http1Violation checkStart(byte[] bytes, int end) {
        if (Ascii.isToken(bytes[0]) || (end == 1 && bytes[0] == '\r')) {
            return null;
        }
        head = null;
        return Http1Violation.BAD_REQUEST_LINE;
    }

    @Override
    @Nullable
    Http1Violation parse(byte[] bytes, int end, int lines) {
        head = null;
        authority = null;
        absoluteForm = false;
        scheme = defaultScheme;
        int at = 0;
        while (Ascii.isToken(bytes[at])) {
            at++;
        }
        if (at == 0 || bytes[at] != ' ') {
            return at == 0 || bytes[at] == '\t' || bytes[at] == '\r'
                    ? Http1Violation.BAD_REQUEST_LINE
                    : Http1Violation.BAD_METHOD;
        }
        method = Method.of(bytes, 0, at);
        int targetStart = ++at;
        while (bytes[at] > ' ' && bytes[at] < 0x7f && bytes[at] != '#') {
            at++;
        }
        if (at == targetStart || bytes[at] != ' ') {
            return bytes[at] == '\r' || bytes[at] == ' ' ? Http1Violation.BAD_REQUEST_LINE : Http1Violation.BAD_TARGET;
        }
        int targetEnd = at++;
        int versionStart = at;
        while (bytes[at] != '\r') {
            at++;
        }
        if (bytes[at + 1] != '\n') {
            return Http1Violation.BAD_REQUEST_LINE;
        }
        Http1Violation found = parseVersion(bytes, versionStart, at - versionStart);
        if (found == null) {
            found = parseTarget(bytes, targetStart, targetEnd);
        }
        if (found != null) {
            return found;
        }
        Fields fields = new Fields(bytes, end, lines + ADDED);
        found = parseFields(bytes, at + 2, fields);
        if (found == null) {
            found = checkHost(fields);
        }
        if (found == null && method.equals(Method.CONNECT) && (isChunked() || contentLength() > 0)) {
            found = Http1Violation.CONTENT_IN_CONNECT;
        }
        AsciiString host = authority;
        head = new RequestHead(
                method, scheme, host == null ? AsciiString.EMPTY_STRING : host, path, fields, contentLength());
        head.setAbsoluteForm(absoluteForm);
        return found;
    }

    private @Nullable Http1Violation parseTarget(byte[] bytes, int start, int end) {
        if (method.equals(Method.CONNECT)) {
            path = AsciiString.EMPTY_STRING;
            authority = new AsciiString(bytes, start, end - start, false);
            return Authority.isValid(bytes, start, end - start) && Authority.port(authority, -1) > 0
                    ? null
                    : Http1Violation.BAD_TARGET;
        }
        if (bytes[start] == '/') {
            path = new AsciiString(bytes, start, end - start, false);
            return null;
        }
        if (bytes[start] == '*' && end == start + 1) {
            path = ASTERISK;
            return method.equals(Method.OPTIONS) ? null : Http1Violation.BAD_TARGET;
        }
        return parseAbsolute(bytes, start, end);
    }

    private @Nullable Http1Violation parseAbsolute(byte[] bytes, int start, int end) {
        int at = start;
        while (at < end && bytes[at] != ':') {
            at++;
        }
        if (Ascii.equalsLower(bytes, start, at - start, Scheme.HTTP)) {
            scheme = Scheme.HTTP;
        } else if (Ascii.equalsLower(bytes, start, at - start, Scheme.HTTPS)) {
            scheme = Scheme.HTTPS;
        } else {
            return hasAuthority(bytes, at, end) ? foreign(bytes, start, at - start) : Http1Violation.BAD_TARGET;
        }
        if (!hasAuthority(bytes, at, end)) {
            return Http1Violation.BAD_TARGET;
        }
        absoluteForm = true;
        int hostStart = at + 3;
        at = hostStart;
        while (at < end && bytes[at] != '/' && bytes[at] != '?') {
            at++;
        }
        if (!Authority.isValid(bytes, hostStart, at - hostStart)) {
            return Http1Violation.BAD_TARGET;
        }
        authority = new AsciiString(bytes, hostStart, at - hostStart, false);
        if (at == end) {
            path = method.equals(Method.OPTIONS) ? ASTERISK : ROOT; // RFC 9112, section 3.2.4
        } else if (bytes[at] == '/') {
            path = new AsciiString(bytes, at, end - at, false);
        } else {
            path = ROOT.concat(new AsciiString(bytes, at, end - at, false));
        }
        return null;
    }

    private static Http1Violation foreign(byte[] bytes, int start, int length) {
        boolean webSocket = Ascii.equalsLower(bytes, start, length, WS) || Ascii.equalsLower(bytes, start, length, WSS);
        return webSocket ? Http1Violation.WEBSOCKET_SCHEME : Http1Violation.UNKNOWN_SCHEME;
    }

    /** Whether {@code ://} follows what may be a scheme. */
    private static boolean hasAuthority(byte[] bytes, int at, int end) {
        return at + 3 <= end && bytes[at] == ':' && bytes[at + 1] == '/' && bytes[at + 2] == '/';
    }

    private @Nullable Http1Violation checkHost(Fields fields) {
        int host = fields.find(FieldName.HOST, 0);
        if (host < 0) {
            return isHttp10() ? null : Http1Violation.MISSING_HOST;
        }
        if (fields.find(FieldName.HOST, host + 1) >= 0) {
            return Http1Violation.DUPLICATE_HOST;
        }
        AsciiString value = fields.value(host);
        if (!Authority.isValid(value)) {
            return Http1Violation.BAD_HOST;
        }
        if (authority == null) {
            authority = value;
        } else if (!authority.equals(value)) {
            fields.removeAt(host); // the target decides (RFC 9112, section 3.2.2)
        }
        return null;
    }
}
