package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.path.PathNormalizer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Fuzz target: a cookie and a query parameter among others. The first line of the input is their name, the second a query,
 * and each other one a line of cookies.
 */
final class CookiesFuzz {
    private CookiesFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String[] lines = new String(input, StandardCharsets.ISO_8859_1).split("\n", -1);
        AsciiString name = new AsciiString(lines[0].getBytes(StandardCharsets.ISO_8859_1));
        if (lines.length < 2 || !Ascii.isToken(name)) {
            return;
        }
        checkQuery(name.toString(), lines[1]);
        List<String> cookies = Arrays.stream(lines).skip(2).map(String::strip).toList();
        Fields fields = new Fields();
        fields.add(FieldName.VIA, new AsciiString("1.1 before"));
        for (String line : cookies) {
            AsciiString value = new AsciiString(line.getBytes(StandardCharsets.ISO_8859_1));
            if (IntStream.range(0, value.length()).anyMatch(i -> !Ascii.isFieldValue(value.byteAt(i)))) {
                return;
            }
            fields.add(FieldName.COOKIE, value);
        }
        fields.add(FieldName.VIA, new AsciiString("1.1 after"));
        checkCookies(name, cookies, fields);
    }

    private static void checkQuery(String name, String query) {
        AsciiString path = new AsciiString(("/path?" + query).getBytes(StandardCharsets.ISO_8859_1));
        AsciiString normal = PathNormalizer.normalize(path);
        if (normal != null) {
            RequestHead head =
                    new RequestHead(Method.GET, Scheme.HTTP, AsciiString.EMPTY_STRING, normal, new Fields(), 0);
            String expected = first(pairs(query, '&'), name);
            long range = NamedValue.ofQueryParameter(head, new AsciiString(name));
            assertThat(text(normal.array(), range)).isEqualTo(expected);
        }
    }

    private static void checkCookies(AsciiString name, List<String> cookies, Fields fields) {
        List<String> named = new ArrayList<>();
        List<List<String>> others = new ArrayList<>();
        for (String line : cookies) {
            List<String> left = new ArrayList<>();
            for (String pair : pairs(line, ';')) {
                if (pair.startsWith(name + "=")) {
                    named.add(pair.substring(name.length() + 1));
                } else {
                    left.add(pair);
                }
            }
            others.add(left);
        }
        for (int i = 0; i <= named.size(); i++) {
            AsciiString value = Cookies.value(fields, name, i);
            assertThat(value == null ? null : value.toString()).isEqualTo(i < named.size() ? named.get(i) : null);
        }
        int held = fields.heldBytes();
        Fields before = fields.copy();
        Cookies.remove(fields, name);
        assertThat((Object) Cookies.value(fields, name)).isNull();
        assertThat(fields.heldBytes()).isEqualTo(held);
        List<String> left = lines(fields);
        List<String> expected = lines(before);
        int at = 0;
        for (int i = 0; i < cookies.size(); i++) {
            List<String> rest =
                    others.get(i).stream().filter(pair -> !pair.isEmpty()).toList();
            boolean changed = others.get(i).size() < pairs(cookies.get(i), ';').size();
            if (!changed) {
                assertThat(left.get(at++)).isEqualTo(expected.get(i));
            } else if (!rest.isEmpty()) {
                // A line ends without white space, and so does its last pair.
                assertThat(withoutEmpty(pairs(left.get(at++), ';')))
                        .isEqualTo(withoutEmpty(pairs(String.join(";", rest).stripTrailing(), ';')));
            }
        }
        assertThat(left).hasSize(at).allMatch(line -> line.equals(line.strip()));
        checkWritten(fields, left);
        Cookies.remove(fields, name);
        assertThat(lines(fields)).isEqualTo(left);
    }

    private static void checkWritten(Fields fields, List<String> cookies) {
        StringBuilder expected = new StringBuilder("Via: 1.1 before\r\n");
        cookies.forEach(line -> expected.append("Cookie: ").append(line).append("\r\n"));
        expected.append("Via: 1.1 after\r\n");
        ByteBuf written = Unpooled.buffer();
        fields.writeTo(written);
        assertThat(written.toString(StandardCharsets.ISO_8859_1)).isEqualTo(expected.toString());
        assertThat(fields.wireLength()).isEqualTo(expected.length());
    }

    private static List<String> lines(Fields fields) {
        List<String> lines = new ArrayList<>();
        for (int i = fields.find(FieldName.COOKIE, 0); i >= 0; i = fields.find(FieldName.COOKIE, i + 1)) {
            lines.add(fields.value(i).toString());
        }
        return lines;
    }

    private static List<String> pairs(String list, char separator) {
        return Arrays.stream(list.split(String.valueOf(separator), -1))
                .map(pair -> pair.replaceAll("^ +", ""))
                .toList();
    }

    private static List<String> withoutEmpty(List<String> pairs) {
        return pairs.stream().filter(pair -> !pair.isEmpty()).toList();
    }

    private static @Nullable String first(List<String> pairs, String name) {
        return pairs.stream()
                .filter(pair -> pair.startsWith(name + "="))
                .map(pair -> pair.substring(name.length() + 1))
                .findFirst()
                .orElse(null);
    }

    private static @Nullable String text(byte[] bytes, long range) {
        return range == NamedValue.NONE
                ? null
                : new String(bytes, NamedValue.start(range), NamedValue.length(range), StandardCharsets.ISO_8859_1);
    }
}
