package dev.gateway.protocol.http2;

import dev.gateway.message.Ascii;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Maps received header lists to heads, and says what is wrong with those that are malformed (RFC 9113, section 8.3).
 * Whether a host or a path is one is not asked here but by the core, of every protocol alike.
 */
final class HeadMapper {
    private HeadMapper() {}

    /** Returns what makes the request malformed, or null. */
    static @Nullable String requestProblem(ReceivedHeaders headers, boolean last) {
        if (headers.problem() != null) {
            return headers.problem();
        }
        AsciiString method = headers.method();
        if (headers.status() != null) {
            return ":status in a request";
        }
        if (method == null || !Ascii.isToken(method)) {
            return "no valid :method";
        }
        if (last && headers.contentLength() > 0) {
            return "a content-length and no body";
        }
        boolean connect = method.contentEquals(Method.CONNECT.name());
        if (headers.protocol() != null && !(connect && Ascii.isToken(headers.protocol()))) {
            return ":protocol where it is not allowed";
        }
        String problem = connect && headers.protocol() == null ? connectProblem(headers) : targetProblem(headers);
        return problem != null ? problem : authorityProblem(headers);
    }

    private static @Nullable String connectProblem(ReceivedHeaders headers) {
        if (headers.scheme() != null || headers.path() != null) {
            return ":scheme or :path in CONNECT";
        }
        return headers.authority() == null ? "CONNECT without :authority" : null;
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
        return null;
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
        ResponseHead head = new ResponseHead(status(headers), null, headers.fields(), headers.contentLength());
        if (head.isInterim() || head.status() == 204) {
            head.forgetLength(); // RFC 9110, section 8.6
        }
        return head;
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
