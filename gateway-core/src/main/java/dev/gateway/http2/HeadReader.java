package dev.gateway.http2;

import dev.gateway.message.Ascii;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** Makes heads of received header lists, and says what is wrong with those that are malformed (RFC 9113, section 8.3). */
final class HeadReader {
    private static final AsciiString ASTERISK = new AsciiString("*");
    private static final boolean[] AUTHORITY = new boolean[128];

    static {
        for (char c = '0'; c <= '9'; c++) {
            AUTHORITY[c] = true;
        }
        for (char c = 'a'; c <= 'z'; c++) {
            AUTHORITY[c] = true;
            AUTHORITY[c - 32] = true;
        }
        // RFC 3986, section 3.2, without userinfo, which RFC 9113, section 8.3.1, rules out.
        for (char c : "-._~%!$&'()*+,;=:[]".toCharArray()) {
            AUTHORITY[c] = true;
        }
    }

    private HeadReader() {}

    /** Returns what makes the request malformed, or null. */
    static @Nullable String requestProblem(ReceivedHeaders headers, boolean last) {
        if (headers.problem() != null) {
            return headers.problem();
        }
        AsciiString method = headers.method();
        if (headers.status() != null) {
            return ":status in a request";
        }
        if (method == null || !isToken(method)) {
            return "no valid :method";
        }
        if (last && headers.contentLength() > 0) {
            return "a content-length and no body";
        }
        boolean connect = method.contentEquals(Method.CONNECT.name());
        if (headers.protocol() != null && !(connect && isToken(headers.protocol()))) {
            return ":protocol where it is not allowed";
        }
        String problem = connect && headers.protocol() == null ? connectProblem(headers) : targetProblem(headers);
        return problem != null ? problem : authorityProblem(headers);
    }

    private static @Nullable String connectProblem(ReceivedHeaders headers) {
        if (headers.scheme() != null || headers.path() != null) {
            return ":scheme or :path in CONNECT";
        }
        AsciiString authority = headers.authority();
        int colon = authority == null ? -1 : authority.lastIndexOf(":");
        if (authority == null || colon <= 0 || colon == authority.length() - 1) {
            return "CONNECT without host and port";
        }
        for (int i = colon + 1; i < authority.length(); i++) {
            if (authority.byteAt(i) < '0' || authority.byteAt(i) > '9') {
                return "CONNECT without host and port";
            }
        }
        return null;
    }

    private static @Nullable String targetProblem(ReceivedHeaders headers) {
        AsciiString scheme = headers.scheme();
        AsciiString path = headers.path();
        if (scheme == null
                || !(scheme.contentEqualsIgnoreCase(Scheme.HTTP) || scheme.contentEqualsIgnoreCase(Scheme.HTTPS))) {
            return "no valid :scheme";
        }
        if (path == null || path.isEmpty()) {
            return "no :path";
        }
        boolean asterisk = path.equals(ASTERISK) && Method.OPTIONS.name().equals(headers.method());
        if (path.byteAt(0) != '/' && !asterisk) {
            return "a :path that does not begin with a slash";
        }
        for (int i = 0; i < path.length(); i++) {
            byte b = path.byteAt(i);
            if (b <= ' ' || b == 0x7f || b == '#') {
                return "a :path with characters that no path has";
            }
        }
        return null;
    }

    private static @Nullable String authorityProblem(ReceivedHeaders headers) {
        AsciiString authority = headers.authority();
        AsciiString host = headers.host();
        if (authority != null && host != null && !authority.contentEqualsIgnoreCase(host)) {
            return ":authority and host that disagree";
        }
        AsciiString named = authority != null ? authority : host;
        if (named == null || named.isEmpty()) {
            return "neither :authority nor host";
        }
        for (int i = 0; i < named.length(); i++) {
            byte b = named.byteAt(i);
            if (b < 0 || !AUTHORITY[b]) {
                return "an authority with characters that none has";
            }
        }
        return null;
    }

    private static boolean isToken(AsciiString text) {
        for (int i = 0; i < text.length(); i++) {
            if (!Ascii.isToken(text.byteAt(i))) {
                return false;
            }
        }
        return !text.isEmpty();
    }

    /**
     * Makes the head of a request that has no problem.
     *
     * @param scheme of the connection: what the client writes in {@code :scheme} proves nothing
     */
    static RequestHead request(ReceivedHeaders headers, AsciiString scheme, boolean last) {
        AsciiString name = orEmpty(headers.method());
        AsciiString authority = headers.authority() != null ? headers.authority() : orEmpty(headers.host());
        RequestHead head = new RequestHead(
                Method.of(name.array(), name.arrayOffset(), name.length()),
                scheme,
                authority,
                orEmpty(headers.path()),
                headers.fields(),
                last && headers.contentLength() < 0 ? 0 : headers.contentLength());
        AsciiString protocol = headers.protocol();
        head.setProtocol(protocol == null ? null : protocol.toLowerCase());
        head.setAbsoluteForm(headers.scheme() != null && headers.scheme().contentEqualsIgnoreCase(Scheme.HTTP));
        return head;
    }

    private static AsciiString orEmpty(@Nullable AsciiString text) {
        return text == null ? AsciiString.EMPTY_STRING : text;
    }

    /** Returns what makes the response malformed, or null. */
    static @Nullable String responseProblem(ReceivedHeaders headers, boolean last) {
        if (headers.problem() != null) {
            return headers.problem();
        }
        if (headers.method() != null
                || headers.scheme() != null
                || headers.path() != null
                || headers.authority() != null
                || headers.protocol() != null) {
            return "a request's pseudo-header field in a response";
        }
        int status = status(headers);
        if (status < 100) {
            return "no valid :status";
        }
        if (status == 101) {
            return "status 101"; // RFC 9113, section 8.6
        }
        return status < 200 && last ? "an interim response that ends the stream" : null;
    }

    /** Makes the head of a response that has no problem. */
    static ResponseHead response(ReceivedHeaders headers) {
        return new ResponseHead(status(headers), null, headers.fields(), headers.contentLength());
    }

    private static int status(ReceivedHeaders headers) {
        AsciiString status = headers.status();
        if (status == null || status.length() != 3) {
            return -1;
        }
        int code = 0;
        for (int i = 0; i < 3; i++) {
            int digit = status.byteAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            code = code * 10 + digit;
        }
        return code;
    }
}
