package dev.gateway.filter.compression;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Fuzz target: {@code Accept-Encoding}, one field a line; and {@code If-None-Match} and {@code Content-Type} of the same
 * bytes. The codings that are chosen are those that another reader of RFC 9110 chooses.
 */
final class AcceptEncodingFuzz {
    private static final List<ContentCoding> OFFERED =
            List.of(ContentCoding.ZSTD, ContentCoding.BR, ContentCoding.GZIP, ContentCoding.DEFLATE);

    /** RFC 9110, section 12.4.2, with one digit after the point at least or no point at all. */
    private static final Pattern WEIGHT = Pattern.compile("(?i)q=(0(\\.[0-9]{0,3})?|1(\\.0{0,3})?)");

    private static final MediaTypes TYPES =
            new MediaTypes(List.of("text/*", "application/*+json", "*/xml", "image/svg+xml"));

    private AcceptEncodingFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        Fields fields = new Fields();
        List<String> lines = new ArrayList<>();
        for (String line : new String(input, StandardCharsets.ISO_8859_1).split("\n", -1)) {
            String value = line.replaceAll("[\\x00-\\x08\\x0a-\\x1f\\x7f]", "").replaceAll("^[ \\t]+|[ \\t]+\\z", "");
            lines.add(value);
            fields.add(FieldName.ACCEPT_ENCODING, bytes(value));
        }
        List<ContentCoding> ranked = AcceptEncoding.rank(fields, OFFERED);
        assertThat(ranked).isEqualTo(expected(String.join(",", lines)));
        Fields joined = new Fields();
        joined.add(FieldName.ACCEPT_ENCODING, bytes(String.join(" ,", lines)));
        assertThat(AcceptEncoding.rank(joined, OFFERED)).as("in one line").isEqualTo(ranked);
        assertThat(AcceptEncoding.rank(fields, List.of(ContentCoding.GZIP)))
                .isEqualTo(ranked.contains(ContentCoding.GZIP) ? List.of(ContentCoding.GZIP) : List.of());
        lines.forEach(AcceptEncodingFuzz::checkType);
        checkTags(lines);
    }

    private static AsciiString bytes(String text) {
        return new AsciiString(text.getBytes(StandardCharsets.ISO_8859_1), false);
    }

    /** Ranks by a table of all weights. */
    private static List<ContentCoding> expected(String list) {
        Map<String, BigDecimal> weights = new HashMap<>();
        for (String element : list.split(",", -1)) {
            String[] parts = element.split(";", 2);
            String name = trim(parts[0]).toLowerCase(Locale.ROOT);
            BigDecimal weight = parts.length == 1 ? BigDecimal.ONE : weight(trim(parts[1]));
            weights.put(name.equals("x-gzip") ? "gzip" : name, weight);
        }
        BigDecimal identity = weights.getOrDefault("identity", BigDecimal.ZERO);
        List<ContentCoding> chosen = new ArrayList<>();
        for (ContentCoding coding : OFFERED) {
            BigDecimal weight = of(weights, coding);
            if (weight.signum() > 0 && weight.compareTo(identity) >= 0) {
                chosen.add(coding);
            }
        }
        chosen.sort((a, b) -> of(weights, b).compareTo(of(weights, a))); // which keeps the order among equals
        return chosen;
    }

    private static BigDecimal of(Map<String, BigDecimal> weights, ContentCoding coding) {
        String name = coding.token().toString();
        return weights.getOrDefault(name, weights.getOrDefault("*", BigDecimal.ZERO));
    }

    private static String trim(String text) {
        return text.replaceAll("^[ \\t]+|[ \\t]+\\z", "");
    }

    private static BigDecimal weight(String text) {
        Matcher matcher = WEIGHT.matcher(text);
        return matcher.matches() ? new BigDecimal(matcher.group(1) + (text.endsWith(".") ? "0" : "")) : BigDecimal.ZERO;
    }

    private static void checkType(String value) {
        String type =
                value.replaceFirst("(?s);.*", "").replaceAll("[ \\t]+\\z", "").toLowerCase(Locale.ROOT);
        boolean covered = type.startsWith("text/")
                || type.matches("(?s)application/.*\\+json")
                || type.matches("[^/]*/xml")
                || type.equals("image/svg+xml");
        assertThat(TYPES.cover(bytes(value))).as(value).isEqualTo(covered);
    }

    /** A strong tag is found where it stands by itself, if the list is one of tags. */
    private static void checkTags(List<String> lines) {
        Fields fields = new Fields();
        List<String> tags = new ArrayList<>();
        boolean wellFormed = true;
        for (String line : lines) {
            fields.add(FieldName.of("If-None-Match"), bytes(line));
            for (String tag : line.split(",", -1)) {
                wellFormed &= trim(tag).matches("(W/)?\"[^\" ,]*\"");
                tags.add(trim(tag));
            }
        }
        if (wellFormed) {
            for (String tag : Arrays.asList("\"x\"", "W/\"x\"", "\"\"", tags.get(0))) {
                assertThat(EntityTags.isStrongAmong(bytes(tag), fields))
                        .isEqualTo(tag.startsWith("\"") && tags.contains(tag));
            }
        }
    }
}
