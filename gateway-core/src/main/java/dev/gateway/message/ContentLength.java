package dev.gateway.message;

import io.netty.util.AsciiString;

/** Reads the value of {@code Content-Length} (RFC 9110, section 8.6), for every protocol in the same way. */
public final class ContentLength {
    private ContentLength() {}

    /** Returns the number if the value is nothing but digits and fits a long, else -1. */
    public static long parse(AsciiString value) {
        byte[] bytes = value.array();
        int at = value.arrayOffset();
        int end = at + value.length();
        long number = at == end ? -1 : 0;
        for (; at < end; at++) {
            int digit = bytes[at] - '0';
            if (digit < 0 || digit > 9 || number > (Long.MAX_VALUE - digit) / 10) {
                return -1;
            }
            number = number * 10 + digit;
        }
        return number;
    }
}
