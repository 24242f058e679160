package dev.gateway.message.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;

import dev.gateway.message.path.PathReadings.Separators;
import io.netty.util.AsciiString;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Fuzz target: the normal form of a path, its other forms, and its readings. The input is path and query. */
public final class PathFuzz {
    private static final Pattern ESCAPE = Pattern.compile("%([0-9A-Fa-f]{2})");
    private static final Pattern WRONG_ESCAPE = Pattern.compile("%(?![0-9A-Fa-f]{2})|%00");
    private static final Pattern REFUSED = Pattern.compile("[^\\x21-\\x7e]|#");
    private static final Pattern CLIMBS = Pattern.compile("\\.{1,2}(;.*)?");

    private PathFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        AsciiString written = new AsciiString(input);
        AsciiString normal = PathNormalizer.normalize(written);
        String expected = normalize(written.toString());
        assertThat(normal == null ? null : normal.toString()).isEqualTo(expected);
        if (normal == null || normal.isEmpty() || normal.contentEquals("*")) {
            return;
        }
        assertThatObject(PathNormalizer.normalize(normal)).as("normal already").isSameAs(normal);
        checkForms(written, normal);
        checkReadings(normal);
    }

    /** Normalizes by the words of the documentation, on texts. */
    private static @Nullable String normalize(String written) {
        if (written.isEmpty() || written.equals("*")) {
            return written;
        }
        int question = written.indexOf('?');
        String path = question < 0 ? written : written.substring(0, question);
        if (!path.startsWith("/")
                || REFUSED.matcher(written).find()
                || path.indexOf('\\') >= 0
                || WRONG_ESCAPE.matcher(path).find()) {
            return null;
        }
        String plain = ESCAPE.matcher(path).replaceAll(PathFuzz::unreserved);
        Deque<String> segments = new ArrayDeque<>();
        String last = "";
        for (String segment : plain.substring(1).split("/", -1)) {
            last = segment;
            if (segment.equals("..")) {
                if (segments.pollLast() == null) {
                    return null;
                }
            } else if (!segment.isEmpty() && !segment.equals(".")) {
                if (Arrays.stream(segment.split("%2F|%5C", -1))
                        .anyMatch(part -> CLIMBS.matcher(part).matches())) {
                    return null;
                }
                segments.add(segment);
            }
        }
        boolean slash = !segments.isEmpty() && (last.isEmpty() || last.equals(".") || last.equals(".."));
        return "/" + String.join("/", segments) + (slash ? "/" : "") + written.substring(path.length());
    }

    private static String unreserved(MatchResult escape) {
        char c = (char) Integer.parseInt(escape.group(1), 16);
        String text = String.valueOf(c).matches("[A-Za-z0-9._~-]")
                ? String.valueOf(c)
                : escape.group().toUpperCase(Locale.ROOT);
        return Matcher.quoteReplacement(text);
    }

    private static void checkForms(AsciiString written, AsciiString normal) {
        assertThat(PathForm.NORMAL.of(written, normal)).containsExactly(normal);
        List<AsciiString> slashes = PathForm.SLASHES_KEPT.of(written, normal);
        List<AsciiString> forms = PathForm.AS_WRITTEN.of(written, normal);
        assertThat(forms).doesNotHaveDuplicates().containsAll(slashes);
        assertThat(forms.isEmpty()).isEqualTo(slashes.isEmpty());
        List<AsciiString> decided = PathForm.ESCAPES_KEPT.of(written, normal);
        String end = written.toString().replaceFirst("[^?]*", "");
        String plain = written.toString().substring(0, written.length() - end.length());
        plain = ESCAPE.matcher(plain).replaceAll(PathFuzz::unreserved) + end;
        assertThat(decided.isEmpty()).isNotEqualTo(normal.contentEquals(plain));
        if (forms.isEmpty()) {
            return;
        }
        assertThatObject(forms.get(0)).isEqualTo(written);
        assertThatObject(PathNormalizer.normalize(slashes.get(0))).isEqualTo(normal);
        assertThat(slashes).hasSize(slashes.get(0).startsWith("//") ? 2 : 1);
        if (!written.toString().contains("//")) {
            assertThat(slashes).containsExactly(normal);
        }
        String path = written.toString().replaceFirst("[?].*", "");
        String query = written.toString().substring(path.length());
        assertThat(forms).extracting(AsciiString::toString).contains(resolve(path) + query);
    }

    /** Resolves the dot segments of a path that are not escaped, and merges its slashes: a model for other targets, too. */
    public static String resolve(String path) {
        Deque<String> segments = new ArrayDeque<>();
        String last = "";
        for (String segment : path.substring(1).split("/", -1)) {
            last = segment;
            if (segment.equals("..")) {
                segments.pollLast();
            } else if (!segment.isEmpty() && !segment.equals(".")) {
                segments.add(segment);
            }
        }
        boolean slash = !segments.isEmpty() && (last.isEmpty() || last.equals(".") || last.equals(".."));
        return "/" + String.join("/", segments) + (slash ? "/" : "");
    }

    private static void checkReadings(AsciiString normal) {
        int length = normal.indexOf('?', 0) < 0 ? normal.length() : normal.indexOf('?', 0);
        AsciiString path = normal.subSequence(0, length);
        for (Separators separators : Separators.values()) {
            List<AsciiString> readings = PathReadings.of(normal, length, separators);
            assertThat(readings).doesNotHaveDuplicates().isEqualTo(PathReadings.of(path, length, separators));
            for (AsciiString reading : readings) {
                String text = reading.toString();
                assertThat(text).startsWith("/").doesNotContain("//");
                assertThat(text.contains("\\") && separators != Separators.SLASH)
                        .isFalse();
                assertThat(Arrays.asList(text.split("/", -1))).doesNotContain(".", "..");
                assertThat(reading.length()).isLessThanOrEqualTo(length);
            }
            if (!PathReadings.isAmbiguous(normal, length)) {
                assertThat(readings).containsExactly(path);
            }
        }
    }
}
