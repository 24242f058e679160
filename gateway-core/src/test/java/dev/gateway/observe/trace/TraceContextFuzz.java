package dev.gateway.observe.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.observe.TracingConfig.Propagator;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Fuzz target: trace contexts of W3C and of Zipkin. Each line of the input begins with the letter of a field. What is not to
 * the letter of the recommendations counts as absent; what goes upstream is well-formed, and says one thing.
 */
final class TraceContextFuzz {
    private static final Pattern PARENT = Pattern.compile(
            "(?s)(?<version>[0-9a-f]{2})-(?<trace>[0-9a-f]{32})-(?<span>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>.*)");

    private static final String KEY = "([a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})";
    private static final Pattern MEMBER = Pattern.compile(KEY + "=[\\x20-\\x2b\\x2d-\\x3c\\x3e-\\x7e]{1,256}");

    private static final Pattern B3 = Pattern.compile(
            "(?<trace>[0-9a-f]{32}|[0-9a-f]{16})-(?<span>[0-9a-f]{16})(-(?<sampled>[01d])(-[0-9a-f]{16})?)?");

    private static final List<List<Propagator>> PROPAGATORS = List.of(
            List.of(Propagator.TRACE_CONTEXT),
            List.of(Propagator.B3),
            List.of(Propagator.B3_MULTI),
            List.of(Propagator.B3, Propagator.TRACE_CONTEXT, Propagator.B3_MULTI));

    private static final Traces TRACES = new Traces();

    private TraceContextFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        Fields fields = new Fields();
        for (String line : new String(input, StandardCharsets.ISO_8859_1).split("\n", -1)) {
            FieldName name = line.isEmpty() ? null : name(line.charAt(0));
            if (name != null) {
                String value = line.substring(1)
                        .replaceAll("[\\x00-\\x08\\x0a-\\x1f\\x7f]", "")
                        .strip();
                fields.add(name, new AsciiString(value.getBytes(StandardCharsets.ISO_8859_1), false));
            }
        }
        checkParent(fields.copy());
        checkSingle(fields.copy());
        for (List<Propagator> propagators : PROPAGATORS) {
            for (boolean records : new boolean[] {false, true}) {
                TracingConfig settings = TraceValues.of(records, propagators, true, 1);
                checkForwarded(fields.copy(), settings, true);
                checkForwarded(fields.copy(), settings, false);
            }
        }
    }

    private static @Nullable FieldName name(char letter) {
        return switch (letter) {
            case 'P' -> FieldName.TRACEPARENT;
            case 'S' -> FieldName.TRACESTATE;
            case 'b' -> FieldName.of("b3");
            case 'T' -> FieldName.of("X-B3-TraceId");
            case 'I' -> FieldName.of("x-b3-spanid");
            case 'p' -> FieldName.of("X-B3-ParentSpanId");
            case 'D' -> FieldName.of("X-B3-Sampled");
            case 'F' -> FieldName.of("X-B3-Flags");
            default -> null;
        };
    }

    private static List<String> values(Fields fields, FieldName name) {
        List<String> values = new ArrayList<>();
        for (int i = fields.find(name, 0); i >= 0; i = fields.find(name, i + 1)) {
            values.add(fields.value(i).toString());
        }
        return values;
    }

    private static String hex(long high, long low) {
        return String.format(Locale.ROOT, "%016x%016x", high, low);
    }

    private static void checkParent(Fields fields) {
        List<String> parents = values(fields, FieldName.TRACEPARENT);
        List<String> states = values(fields, FieldName.TRACESTATE);
        RemoteContext found = Propagation.extract(Propagator.TRACE_CONTEXT, fields);
        Matcher matcher = PARENT.matcher(parents.isEmpty() ? "" : parents.get(0));
        boolean valid = parents.size() == 1
                && matcher.matches()
                && !matcher.group("version").equals("ff")
                && !matcher.group("trace").matches("0+")
                && !matcher.group("span").matches("0+")
                && (matcher.group("more").isEmpty()
                        || (!matcher.group("version").equals("00")
                                && matcher.group("more").startsWith("-")));
        assertThat(found != null).isEqualTo(valid);
        if (found != null) {
            assertThat(hex(found.high(), found.low())).isEqualTo(matcher.group("trace"));
            assertThat(hex(0, found.span())).endsWith(matcher.group("span"));
            boolean sampled = (Integer.parseInt(matcher.group("flags"), 16) & 1) == 1;
            assertThat(found.decision()).isEqualTo(sampled ? RemoteContext.Decision.YES : RemoteContext.Decision.NO);
            assertThat(values(fields, FieldName.TRACESTATE)).isEqualTo(isState(states) ? states : List.of());
        }
    }

    private static boolean isState(List<String> states) {
        String all = String.join(",", states);
        List<String> members = Arrays.stream(all.split(",", -1))
                .map(member -> member.replaceAll("^[ \\t]+|[ \\t]+\\z", ""))
                .filter(member -> !member.isEmpty())
                .toList();
        long keys = members.stream()
                .map(member -> member.replaceFirst("(?s)=.*", ""))
                .distinct()
                .count();
        return all.length() <= 512
                && members.size() <= 32
                && keys == members.size()
                && members.stream().allMatch(member -> MEMBER.matcher(member).matches());
    }

    private static void checkSingle(Fields fields) {
        List<String> all = values(fields, FieldName.of("b3"));
        RemoteContext found = Propagation.extract(Propagator.B3, fields);
        String text = all.size() == 1 ? all.get(0) : "";
        Matcher matcher = B3.matcher(text);
        boolean ids = matcher.matches()
                && !matcher.group("trace").matches("0+")
                && !matcher.group("span").matches("0+");
        assertThat(found != null).isEqualTo(ids || text.matches("[01d]"));
        if (found != null) {
            assertThat(found.hasIds()).isEqualTo(ids);
            assertThat(!ids || hex(found.high(), found.low()).endsWith(matcher.group("trace")))
                    .isTrue();
        }
    }

    private static void checkForwarded(Fields fields, TracingConfig settings, boolean trusted) {
        RemoteContext told = null;
        for (Propagator propagator : settings.propagators()) {
            told = told == null && trusted ? Propagation.extract(propagator, fields.copy()) : told;
        }
        Trace trace = TRACES.begin(fields, trusted, settings);
        if (told != null && told.hasIds()) {
            assertThat(trace.idText()).isEqualTo(hex(told.high(), told.low()));
            assertThat(trace.parent()).isEqualTo(told.span());
        } else {
            assertThat(trace.parent()).isZero();
        }
        TRACES.forward(fields, trace, settings);
        for (Propagator propagator : settings.propagators()) {
            Fields sent = fields.copy();
            RemoteContext next = Objects.requireNonNull(Propagation.extract(propagator, sent));
            assertThat(hex(next.high(), next.low())).isEqualTo(trace.idText());
            assertThat(next.span()).isEqualTo(trace.span());
            assertThat(next.decision() == RemoteContext.Decision.OPEN
                            || (next.decision() == RemoteContext.Decision.YES) == trace.isSampled())
                    .isTrue();
            assertThat(sent).as("nothing but what is well-formed").hasToString(fields.toString());
        }
        String sent = fields.toString();
        TRACES.forward(fields, trace, settings);
        assertThat(lines(fields.toString())).as("once more").isEqualTo(lines(sent));
    }

    private static List<String> lines(String text) {
        return text.lines().map(line -> line.toLowerCase(Locale.ROOT)).sorted().toList();
    }
}
