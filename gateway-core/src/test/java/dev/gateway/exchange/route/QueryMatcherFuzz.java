package dev.gateway.exchange.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import dev.gateway.message.path.PathNormalizer;
import io.netty.util.AsciiString;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Fuzz target: the query parameter that a rule names. The first two lines of the input are its name and its value, the third is a
 * query.
 */
final class QueryMatcherFuzz {
    private static final Pattern ESCAPE = Pattern.compile("%([0-9A-Fa-f]{2})");

    private QueryMatcherFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String[] lines = new String(input, StandardCharsets.ISO_8859_1).split("\n", 3);
        if (lines.length < 3) {
            return;
        }
        AsciiString path =
                PathNormalizer.normalize(new AsciiString(("/p?" + lines[2]).getBytes(StandardCharsets.ISO_8859_1)));
        if (path == null) {
            return;
        }
        if (lines[0].isEmpty()) {
            return; // a configuration has none
        }
        // Rules are texts of UTF-8, and what is not is no name.
        String name = new String(lines[0].getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
        String value = new String(lines[1].getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
        byte[] first = first(lines[2], name.getBytes(StandardCharsets.UTF_8));
        assertThat(accepts(name, value, false, path))
                .isEqualTo(first != null && Arrays.equals(first, value.getBytes(StandardCharsets.UTF_8)));
        assertThat(accepts(name, "(?s).*", true, path)).isEqualTo(first != null);
        assertThat(accepts(name, "(?s)" + quote(value), true, path))
                .isEqualTo(first != null && new String(first, StandardCharsets.UTF_8).equals(value));
    }

    private static String quote(String text) {
        return text.replaceAll("[^A-Za-z0-9\\x80-\\x{10ffff}]", "\\\\$0");
    }

    private static boolean accepts(String name, String value, boolean regex, AsciiString path) {
        RequestHead head = new RequestHead(Method.GET, Scheme.HTTP, new AsciiString("a"), path, new Fields(), 0);
        return QueryMatcher.of(regex ? Matches.regex(name, value) : Matches.exact(name, value))
                .accepts(head);
    }

    /** Returns the decoded value of the first parameter of that name, empty without an equals sign. */
    private static byte @Nullable [] first(String query, byte[] name) {
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (Arrays.equals(decode(equals < 0 ? pair : pair.substring(0, equals)), name)) {
                return decode(equals < 0 ? "" : pair.substring(equals + 1));
            }
        }
        return null;
    }

    private static byte[] decode(String text) {
        ByteArrayOutputStream decoded = new ByteArrayOutputStream();
        Matcher escapes = ESCAPE.matcher(text);
        int from = 0;
        while (escapes.find()) {
            decoded.writeBytes(plain(text.substring(from, escapes.start())));
            decoded.write(Integer.parseInt(escapes.group(1), 16));
            from = escapes.end();
        }
        decoded.writeBytes(plain(text.substring(from)));
        return decoded.toByteArray();
    }

    private static byte[] plain(String text) {
        return text.replace('+', ' ').getBytes(StandardCharsets.ISO_8859_1);
    }
}
