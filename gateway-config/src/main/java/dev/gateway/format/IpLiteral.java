package dev.gateway.format;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * IP address parser. Accepts only notations that every parser reads alike: IPv4 as four decimal numbers without
 * leading zeros, IPv6 as RFC 4291 (section 2.2) has it, without a zone. Platform and library parsers are each lenient in
 * their own way.
 */
public final class IpLiteral {
    private static final int GROUPS = 8;

    private IpLiteral() {}

    /** Parses an IPv4 or IPv6 address; returns null if the text is neither. Makes no DNS lookup. */
    public static @Nullable InetAddress parse(String text) {
        return text.indexOf(':') < 0 ? parse4(text) : parse6(text);
    }

    /** Parses an IPv4 address; returns null if the text is not one. */
    public static @Nullable InetAddress parse4(String text) {
        byte[] bytes = new byte[4];
        return parse4(text, 0, bytes, 0) ? address(bytes) : null;
    }

    private static boolean parse4(String text, int from, byte[] bytes, int to) {
        int at = from;
        for (int i = 0; i < 4; i++) {
            int start = at;
            int number = 0;
            while (at < text.length() && at - start < 3 && isDigit(text.charAt(at))) {
                number = number * 10 + text.charAt(at++) - '0';
            }
            boolean leadingZero = text.length() > start && text.charAt(start) == '0' && at - start > 1;
            boolean separated = i == 3 ? at == text.length() : at < text.length() && text.charAt(at) == '.';
            if (at == start || number > 255 || leadingZero || !separated) {
                return false;
            }
            bytes[to + i] = (byte) number;
            at++;
        }
        return true;
    }

    /** Returns an IPv6 address, or the IPv4 address that an IPv4-mapped one is; null if it is neither. */
    public static @Nullable InetAddress parse6(String text) {
        byte[] bytes = new byte[2 * GROUPS];
        int gap = -1; // where the zeros go that :: stands for
        int group = 0;
        int at = 0;
        if (text.startsWith("::")) {
            gap = 0;
            at = 2;
        }
        while (at < text.length()) {
            if (group == GROUPS) {
                return null;
            }
            int start = at;
            int value = 0;
            while (at < text.length() && at - start < 4 && HexFormat.isHexDigit(text.charAt(at))) {
                value = value << 4 | HexFormat.fromHexDigit(text.charAt(at++));
            }
            if (at < text.length() && text.charAt(at) == '.') {
                if (group > GROUPS - 2 || !parse4(text, start, bytes, 2 * group)) {
                    return null;
                }
                group += 2;
                break; // a dotted address is the last of it
            }
            if (at == start) {
                return null;
            }
            bytes[2 * group] = (byte) (value >> 8);
            bytes[2 * group + 1] = (byte) value;
            group++;
            if (at == text.length()) {
                break;
            }
            if (text.charAt(at++) != ':' || at == text.length()) {
                return null;
            }
            if (text.charAt(at) == ':') {
                if (gap >= 0) {
                    return null;
                }
                gap = group;
                at++;
            }
        }
        if (gap < 0 ? group != GROUPS : group == GROUPS) {
            return null;
        }
        if (gap >= 0) {
            int tail = 2 * (group - gap);
            System.arraycopy(bytes, 2 * gap, bytes, bytes.length - tail, tail);
            Arrays.fill(bytes, 2 * gap, bytes.length - tail, (byte) 0);
        }
        return address(bytes);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static InetAddress address(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e); // only of another length
        }
    }
}
