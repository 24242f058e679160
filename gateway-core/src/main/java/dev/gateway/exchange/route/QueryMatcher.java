package dev.gateway.exchange.route;

import com.google.re2j.Pattern;
import dev.gateway.config.route.MatchConfig.ValueMatch;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Compares one query parameter, decoding as it goes: escapes, and {@code +} as a space. A percent sign that starts no
 * escape stands for itself. Makes a string only for a regular expression.
 */
final class QueryMatcher {
    private final byte[] name;
    private final byte[] value;
    private final @Nullable Pattern pattern;

    private QueryMatcher(byte[] name, byte[] value, @Nullable Pattern pattern) {
        this.name = name;
        this.value = value;
        this.pattern = pattern;
    }

    static QueryMatcher of(ValueMatch query) {
        return new QueryMatcher(
                query.name().getBytes(StandardCharsets.UTF_8),
                query.value().getBytes(StandardCharsets.UTF_8),
                query.isRegex() ? Pattern.compile(query.value()) : null);
    }

    boolean accepts(RequestHead head) {
        AsciiString path = head.path();
        byte[] bytes = path.array();
        int limit = path.arrayOffset() + path.length();
        int start = path.arrayOffset() + head.queryStart() + 1;
        while (start < limit) {
            int end = start;
            int equals = -1;
            while (end < limit && bytes[end] != '&') {
                if (bytes[end] == '=' && equals < 0) {
                    equals = end;
                }
                end++;
            }
            int nameEnd = equals < 0 ? end : equals;
            if (isDecoded(bytes, start, nameEnd, name)) {
                int valueStart = Math.min(nameEnd + 1, end);
                return pattern == null
                        ? isDecoded(bytes, valueStart, end, value)
                        : pattern.matcher(decode(bytes, valueStart, end)).matches();
            }
            start = end + 1;
        }
        return false;
    }

    private static boolean isDecoded(byte[] bytes, int from, int to, byte[] expected) {
        int i = from;
        for (byte e : expected) {
            if (i >= to || decodedAt(bytes, i, to) != (e & 0xff)) {
                return false;
            }
            i += lengthAt(bytes, i, to);
        }
        return i == to;
    }

    private static String decode(byte[] bytes, int from, int to) {
        byte[] out = new byte[to - from];
        int length = 0;
        for (int i = from; i < to; i += lengthAt(bytes, i, to)) {
            out[length++] = (byte) decodedAt(bytes, i, to);
        }
        return new String(out, 0, length, StandardCharsets.UTF_8);
    }

    private static int decodedAt(byte[] bytes, int i, int to) {
        if (lengthAt(bytes, i, to) == 3) {
            return Character.digit(bytes[i + 1], 16) << 4 | Character.digit(bytes[i + 2], 16);
        }
        return bytes[i] == '+' ? ' ' : bytes[i] & 0xff;
    }

    private static int lengthAt(byte[] bytes, int i, int to) {
        boolean escape = bytes[i] == '%'
                && i + 2 < to
                && Character.digit(bytes[i + 1], 16) >= 0
                && Character.digit(bytes[i + 2], 16) >= 0;
        return escape ? 3 : 1;
    }
}
