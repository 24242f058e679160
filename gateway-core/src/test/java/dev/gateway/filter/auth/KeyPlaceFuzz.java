package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;

import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import dev.gateway.message.path.PathNormalizer;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Fuzz target: a key in a query parameter or a cookie named {@code api_key}. Once it is taken, no upstream finds another.
 * The first line of the input is a query, each other one a line of cookies.
 */
final class KeyPlaceFuzz {
    private static final String NAME = "api_key";

    private static final Pattern ESCAPE = Pattern.compile("%([0-9A-Fa-f]{2})");

    /** Some recipients end a name at a bracket or NUL, or read some signs as an underscore. */
    private static final Pattern ALIKE =
            Pattern.compile("(?is)[\\x00-\\x20]*api[_ .\\[]key[\\x01-\\x20]*([\\x00\\[].*)?");

    private KeyPlaceFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String[] lines = new String(input, StandardCharsets.ISO_8859_1).split("\n", -1);
        AsciiString path = PathNormalizer.normalize(bytes("/path?" + lines[0]));
        if (path == null) {
            return;
        }
        Fields fields = new Fields();
        List<String> cookies = new ArrayList<>();
        for (String line : Arrays.asList(lines).subList(1, lines.length)) {
            AsciiString value = bytes(line.strip());
            for (int i = 0; i < value.length(); i++) {
                if (!Ascii.isFieldValue(value.byteAt(i))) {
                    return;
                }
            }
            fields.add(FieldName.COOKIE, value);
            cookies.addAll(Arrays.asList(line.strip().split(";", -1)));
        }
        RequestHead head = new RequestHead(Method.GET, Scheme.HTTP, bytes("a.example"), path, fields, 0);
        check(KeyPlace.queryParameter(NAME), head, Arrays.asList(lines[0].split("&", -1)));
        check(KeyPlace.cookie(NAME), head, cookies.stream().map(String::strip).toList());
    }

    private static AsciiString bytes(String text) {
        return new AsciiString(text.getBytes(StandardCharsets.ISO_8859_1), false);
    }

    private static void check(KeyPlace place, RequestHead head, List<String> pairs) {
        RequestHead kept = head.copy();
        AsciiString key = place.find(kept, false);
        assertThatObject(kept.path()).isEqualTo(head.path());
        assertThat(kept.fields()).hasToString(head.fields().toString());

        RequestHead taken = head.copy();
        AsciiString again = place.find(taken, true);
        assertThatObject(again).isEqualTo(key);
        assertThatObject(place.find(taken, true)).as("nothing is left").isNull();
        List<String> exact =
                pairs.stream().filter(pair -> pair.startsWith(NAME + "=")).toList();
        long alike = pairs.stream().filter(KeyPlaceFuzz::isAlike).count();
        if (key != null) {
            assertThat(exact).containsExactly(NAME + "=" + key);
            assertThat(alike).isEqualTo(1);
        } else if (exact.size() == 1 && alike == 1) {
            // A recipient that also separates at other signs may find one more.
            assertThat(pairs.stream()
                            .flatMap(pair -> Stream.of(pair.split("[,;]", -1)))
                            .filter(KeyPlaceFuzz::mayBeAlike))
                    .hasSizeGreaterThan(1);
        }
        boolean isCookie = place instanceof KeyPlace.Cookie;
        String left = isCookie
                ? taken.fields().toString().replaceAll("(?m)^Cookie: ", "")
                : taken.path().toString().replaceFirst("^[^?]*\\??", "");
        for (String pair : left.split(isCookie ? "[;\n]" : "&", -1)) {
            assertThat(isAlike(pair.strip())).as(left).isFalse();
        }
        if (alike == 0
                && key == null
                && pairs.stream().noneMatch(pair -> pair.indexOf(',') >= 0 || pair.indexOf(';') >= 0)) {
            assertThatObject(taken.path()).isEqualTo(head.path());
        }
    }

    /** Whether the name of a pair is the key's for some recipient, decoded or not. */
    private static boolean isAlike(String pair) {
        int equals = pair.indexOf('=');
        String name = equals < 0 ? pair : pair.substring(0, equals);
        return Stream.of(name, decoded(name))
                .anyMatch(each -> ALIKE.matcher(each).matches());
    }

    private static boolean mayBeAlike(String pair) {
        String folded = decoded(pair).toLowerCase(Locale.ROOT);
        return folded.contains("api") && folded.contains("key");
    }

    private static String decoded(String text) {
        return ESCAPE.matcher(text.replace('+', ' ')).replaceAll(KeyPlaceFuzz::octet);
    }

    private static String octet(MatchResult escape) {
        return Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(escape.group(1), 16)));
    }
}
