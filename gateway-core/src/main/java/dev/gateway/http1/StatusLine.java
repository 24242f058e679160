package dev.gateway.http1;

import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;

/** Status lines, encoded beforehand for the registered codes (RFC 9110, section 15). */
final class StatusLine {
    private static final int PREFIX = "HTTP/1.1 200 ".length();
    private static final byte[][] LINES = new byte[1000][];

    static {
        for (int status = 0; status < LINES.length; status++) {
            LINES[status] = line(status, "");
        }
        known(100, "Continue");
        known(101, "Switching Protocols");
        known(102, "Processing");
        known(103, "Early Hints");
        known(200, "OK");
        known(201, "Created");
        known(202, "Accepted");
        known(203, "Non-Authoritative Information");
        known(204, "No Content");
        known(205, "Reset Content");
        known(206, "Partial Content");
        known(207, "Multi-Status");
        known(208, "Already Reported");
        known(226, "IM Used");
        known(300, "Multiple Choices");
        known(301, "Moved Permanently");
        known(302, "Found");
        known(303, "See Other");
        known(304, "Not Modified");
        known(305, "Use Proxy");
        known(307, "Temporary Redirect");
        known(308, "Permanent Redirect");
        known(400, "Bad Request");
        known(401, "Unauthorized");
        known(402, "Payment Required");
        known(403, "Forbidden");
        known(404, "Not Found");
        known(405, "Method Not Allowed");
        known(406, "Not Acceptable");
        known(407, "Proxy Authentication Required");
        known(408, "Request Timeout");
        known(409, "Conflict");
        known(410, "Gone");
        known(411, "Length Required");
        known(412, "Precondition Failed");
        known(413, "Content Too Large");
        known(414, "URI Too Long");
        known(415, "Unsupported Media Type");
        known(416, "Range Not Satisfiable");
        known(417, "Expectation Failed");
        known(421, "Misdirected Request");
        known(422, "Unprocessable Content");
        known(423, "Locked");
        known(424, "Failed Dependency");
        known(425, "Too Early");
        known(426, "Upgrade Required");
        known(428, "Precondition Required");
        known(429, "Too Many Requests");
        known(431, "Request Header Fields Too Large");
        known(451, "Unavailable For Legal Reasons");
        known(500, "Internal Server Error");
        known(501, "Not Implemented");
        known(502, "Bad Gateway");
        known(503, "Service Unavailable");
        known(504, "Gateway Timeout");
        known(505, "HTTP Version Not Supported");
        known(508, "Loop Detected");
        known(506, "Variant Also Negotiates");
        known(507, "Insufficient Storage");
        known(508, "Loop Detected");
        known(511, "Network Authentication Required");
    }

    private StatusLine() {}

    private static void known(int status, String reason) {
        LINES[status] = line(status, reason);
    }

    private static byte[] line(int status, String reason) {
        return ("HTTP/1.1 " + status + " " + reason + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns the line of a response, with the reason phrase its sender gave it if that is not the usual one. */
    static byte[] of(ResponseHead head) {
        byte[] line = LINES[head.status()];
        AsciiString reason = head.reason();
        return reason == null || isReason(line, reason) ? line : line(head.status(), reason.toString());
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
