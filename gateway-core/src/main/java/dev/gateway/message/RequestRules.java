package dev.gateway.message;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Request validation: what every request must hold to, whatever protocol it came by. An adapter checks what its protocol
 * alone can break: how a message is framed, and how fields are written. The core asks here what the request means, once for
 * all of them, so that no protocol is a way around the rules of another. The path is {@code PathNormalizer}'s.
 */
public final class RequestRules {
    private static final AsciiString ASTERISK = new AsciiString("*");

    private RequestRules() {}

    /** Returns what is wrong with the request, for people, or null. */
    public static @Nullable String problem(RequestHead head) {
        AsciiString authority = head.authority();
        boolean connect = head.isConnect();
        if (connect && head.contentLength() > 0) {
            return "content in CONNECT"; // RFC 9110, section 9.3.6
        }
        if (connect && head.protocol() == null) {
            return Authority.isValid(authority) && Authority.port(authority, -1) > 0
                    ? null
                    : "CONNECT without a host and a port";
        }
        if (!authority.isEmpty() && !Authority.isValid(authority)) { // a client of HTTP/1.0 need not name a host
            return "a host that is not valid";
        }
        if (head.path().equals(ASTERISK) && !head.method().equals(Method.OPTIONS)) {
            return "an asterisk instead of a path";
        }
        return null;
    }
}
