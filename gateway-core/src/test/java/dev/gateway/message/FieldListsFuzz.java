package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Fuzz target: fields that are lists, and what {@code Connection} has removed. Each line of the input is a field with its name.
 */
final class FieldListsFuzz {
    /** What Connection cannot have removed: it frames or routes a message, or tells where that came from. */
    private static final List<String> KEPT = List.of(
            "host",
            "content-length",
            "via",
            "forwarded",
            "x-forwarded-for",
            "x-forwarded-proto",
            "x-forwarded-host",
            "x-forwarded-port",
            "x-request-id");

    private static final List<String> ALWAYS = List.of(
            "connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "upgrade", "http2-settings");

    private record Line(String name, String value) {}

    private FieldListsFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        Fields fields = new Fields();
        List<Line> lines = new ArrayList<>();
        for (String text : new String(input, StandardCharsets.ISO_8859_1).split("\n", -1)) {
            int colon = text.indexOf(':');
            AsciiString name = bytes(text.substring(0, Math.max(0, colon)));
            AsciiString value = bytes(text.substring(colon + 1).strip());
            if (colon > 0 && Ascii.isToken(name) && isValue(value)) {
                fields.add(name, value);
                lines.add(new Line(name.toString(), value.toString()));
            }
        }
        checkTable(fields, lines);
        for (FieldName name : Stream.concat(lines.stream().map(Line::name), Stream.of("connection", "te"))
                .map(FieldName::of)
                .distinct()
                .toList()) {
            checkList(fields, lines, name);
        }
        checkContentLength(fields, lines);
        checkRequest(fields, lines);
        checkResponse(fields, lines, 200);
        checkResponse(fields, lines, 426);
    }

    private static AsciiString bytes(String text) {
        return new AsciiString(text.getBytes(StandardCharsets.ISO_8859_1), false);
    }

    private static boolean isValue(AsciiString value) {
        for (int i = 0; i < value.length(); i++) {
            if (!Ascii.isFieldValue(value.byteAt(i))) {
                return false;
            }
        }
        return true;
    }

    /** The table has the lines in their order, finds them whatever the case of their name, and writes them. */
    private static void checkTable(Fields fields, List<Line> lines) {
        assertThat(fields.size()).isEqualTo(lines.size());
        StringBuilder written = new StringBuilder();
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            assertThat(fields.name(i).toString()).isEqualTo(line.name);
            assertThat(fields.lowerName(i).toString()).isEqualTo(line.name.toLowerCase(Locale.ROOT));
            assertThat(fields.value(i).toString()).isEqualTo(line.value);
            assertThat(fields.find(FieldName.of(line.name.toUpperCase(Locale.ROOT)), i))
                    .isEqualTo(i);
            written.append(line.name).append(": ").append(line.value).append("\r\n");
        }
        ByteBuf bytes = Unpooled.buffer();
        fields.writeTo(bytes);
        assertThat(bytes.toString(StandardCharsets.ISO_8859_1)).isEqualTo(written.toString());
        assertThat(fields.wireLength()).isEqualTo(written.length());
    }

    private static List<String> elements(List<Line> lines, String name) {
        return lines.stream()
                .filter(line -> line.name.equalsIgnoreCase(name))
                .flatMap(line -> Arrays.stream(line.value.split(",", -1)))
                .map(element -> element.replaceAll("^[ \\t]+|[ \\t]+\\z", ""))
                .toList();
    }

    private static void checkList(Fields fields, List<Line> lines, FieldName name) {
        List<String> all = elements(lines, name.lower().toString());
        List<String> found = all.stream().filter(element -> !element.isEmpty()).toList();
        assertThat(fields.countElements(name)).isEqualTo(all.size());
        assertThat(fields.elements(name).stream().map(AsciiString::toString)).isEqualTo(found);
        for (String element : found) {
            String lower = bytes(element).toLowerCase().toString();
            assertThat(fields.hasElement(name, bytes(lower))).isTrue();
            assertThat(fields.hasElement(name, bytes(lower + "x")))
                    .isEqualTo(found.stream()
                            .anyMatch(
                                    each -> bytes(each).toLowerCase().toString().equals(lower + "x")));
        }
    }

    private static void checkContentLength(Fields fields, List<Line> lines) {
        List<String> all = elements(lines, "content-length");
        long expected;
        if (all.isEmpty() || !all.stream().allMatch(FieldListsFuzz::isLength)) {
            // Those before the first wrong one may differ.
            int wrong = (int) all.stream().takeWhile(FieldListsFuzz::isLength).count();
            boolean differ = all.subList(0, wrong).stream()
                            .map(BigInteger::new)
                            .distinct()
                            .count()
                    > 1;
            expected = differ ? ContentLength.DIFFERENT : -1;
        } else {
            boolean same = all.stream().map(BigInteger::new).distinct().count() == 1;
            expected = same ? Long.parseLong(all.get(0)) : ContentLength.DIFFERENT;
        }
        assertThat(ContentLength.parseSame(fields)).isEqualTo(expected);
    }

    private static boolean isLength(String text) {
        return text.matches("[0-9]+") && new BigInteger(text).bitLength() <= 63;
    }

    private static void checkRequest(Fields fields, List<Line> lines) {
        Fields stripped = fields.copy();
        HopByHop.stripRequest(stripped);
        List<Line> expected = new ArrayList<>(left(lines, ALWAYS));
        if (elements(lines, "te").stream().anyMatch("trailers"::equalsIgnoreCase)) {
            expected.add(new Line("TE", "trailers"));
        }
        assertThat(lines(stripped)).isEqualTo(expected);
        HopByHop.stripRequest(stripped);
        assertThat(lines(stripped)).as("stripped again").isEqualTo(expected);
        HopByHop.stripCredentials(stripped);
        assertThat(stripped.contains(FieldName.PROXY_AUTHORIZATION)).isFalse();
    }

    private static void checkResponse(Fields fields, List<Line> lines, int status) {
        Fields stripped = fields.copy();
        HopByHop.stripResponse(status, stripped);
        List<String> gone = Stream.concat(
                        ALWAYS.stream().filter(name -> status != 426 || !name.equals("upgrade")),
                        Stream.of("proxy-authenticate", "proxy-authentication-info"))
                .toList();
        assertThat(lines(stripped)).isEqualTo(left(lines, gone));
    }

    /** Returns the lines that neither always go nor are named by Connection. */
    private static List<Line> left(List<Line> lines, List<String> always) {
        List<String> named = lines.stream()
                .filter(line -> line.name.equalsIgnoreCase("connection"))
                .flatMap(line -> Arrays.stream(line.value.split("[^!#$%&'*+.^_`|~0-9A-Za-z-]+", -1)))
                .map(each -> each.toLowerCase(Locale.ROOT))
                .filter(each -> !KEPT.contains(each) && !ALWAYS.contains(each))
                .toList();
        return lines.stream()
                .filter(line -> !always.contains(line.name.toLowerCase(Locale.ROOT)))
                .filter(line -> !named.contains(line.name.toLowerCase(Locale.ROOT)))
                .toList();
    }

    private static List<Line> lines(Fields fields) {
        List<Line> lines = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            lines.add(new Line(fields.name(i).toString(), fields.value(i).toString()));
        }
        return lines;
    }
}
