package dev.gateway.protocol.socks;

import dev.gateway.stream.Cause;

/** What a SOCKS proxy says if it does not connect (RFC 1928, section 6). */
final class SocksReply {
    private static final int TTL_EXPIRED = 6;

    private SocksReply() {}

    /** Returns the reply's number, and what it means. */
    static String text(int code) {
        String meaning =
                switch (code) {
                    case 1 -> "general failure";
                    case 2 -> "not allowed";
                    case 3 -> "network unreachable";
                    case 4 -> "host unreachable";
                    case 5 -> "connection refused";
                    case TTL_EXPIRED -> "TTL expired";
                    case 7 -> "command not supported";
                    case 8 -> "address type not supported";
                    default -> "unknown";
                };
        return code + " (" + meaning + ")";
    }

    static Cause cause(int code) {
        return code == TTL_EXPIRED ? Cause.CONNECT_TIMEOUT : Cause.CONNECT_FAILED;
    }
}
