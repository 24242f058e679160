package dev.gateway.observe.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.observe.TracingConfig.Propagator;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What heads say of traces, whom it is believed, and what upstreams are told. */
class TracesTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String SPAN = "00f067aa0ba902b7";
    private static final String PARENT = "00-" + TRACE + "-" + SPAN + "-01";
    private static final List<Propagator> W3C = List.of(Propagator.TRACE_CONTEXT);

    private final Traces traces = new Traces();

    private static TracingConfig settings(boolean records, List<Propagator> propagators, double ratio) {
        return TraceValues.of(records, propagators, true, ratio);
    }

    private static final TracingConfig PROPAGATE = settings(false, W3C, 1);
    private static final TracingConfig RECORD = settings(true, W3C, 1);

    private static Fields fields(String... namesAndValues) {
        Fields fields = new Fields();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.add(FieldName.of(namesAndValues[i]), namesAndValues[i + 1]);
        }
        return fields;
    }

    private static List<String> values(Fields fields, String name) {
        List<String> values = new ArrayList<>();
        for (int i = fields.find(FieldName.of(name), 0); i >= 0; i = fields.find(FieldName.of(name), i + 1)) {
            values.add(fields.value(i).toString());
        }
        return values;
    }

    private static String hex(long number) {
        return "%016x".formatted(number);
    }

    /** Forwards a head, and returns the trace that it is part of. */
    private Trace forward(Fields fields, boolean trusted, TracingConfig settings) {
        Trace trace = traces.begin(fields, trusted, settings);
        traces.forward(fields, trace, settings);
        return trace;
    }

    @Test
    void aTrustedContextPassesAsItIs() {
        Fields fields = fields("traceparent", PARENT, "tracestate", "a=1", "tracestate", "b=2");
        Trace trace = forward(fields, true, PROPAGATE);
        assertThat(values(fields, "traceparent")).containsExactly(PARENT);
        assertThat(values(fields, "tracestate")).containsExactly("a=1", "b=2");
        assertThat(hex(trace.high()) + hex(trace.low())).isEqualTo(TRACE);
        assertThat(hex(trace.span())).isEqualTo(SPAN);
        assertThat(trace.isSampled()).isTrue();
        assertThat(trace.isRecorded()).isFalse();
    }

    @Test
    void whatAStrangerSaysIsReplaced() {
        Fields fields = fields("traceparent", PARENT, "tracestate", "a=1");
        Trace trace = forward(fields, false, PROPAGATE);
        assertThat(values(fields, "tracestate")).isEmpty();
        assertThat(values(fields, "traceparent"))
                .containsExactly("00-" + hex(trace.high()) + hex(trace.low()) + "-" + hex(trace.span()) + "-01")
                .doesNotContain(PARENT);
        assertThat(trace.parent()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "00",
                "00-" + TRACE + "-" + SPAN,
                "00-" + TRACE + "-" + SPAN + "-1",
                "00-" + TRACE + "-" + SPAN + "-01-",
                "00-" + TRACE + "-" + SPAN + "-01-x",
                "00-" + TRACE + "-" + SPAN + "-0x",
                "00-" + TRACE + "-" + SPAN + "_01",
                "00_" + TRACE + "-" + SPAN + "-01",
                "ff-" + TRACE + "-" + SPAN + "-01",
                "01-" + TRACE + "-" + SPAN + "-01.x",
                "0-" + TRACE + "-" + SPAN + "-01",
                "00-00000000000000000000000000000000-" + SPAN + "-01",
                "00-" + TRACE + "-0000000000000000-01",
                "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + SPAN + "-01",
                "00-" + TRACE + "-00F067AA0BA902B7-01",
                "00-" + TRACE + "g-" + SPAN + "-01"
            })
    void whatIsNotWellFormedCountsAsAbsent(String text) {
        Fields fields = fields("traceparent", text, "tracestate", "a=1");
        Trace trace = forward(fields, true, PROPAGATE);
        assertThat(trace.parent()).isZero();
        assertThat(values(fields, "traceparent")).singleElement().asString().matches("00-[0-9a-f]{32}-[0-9a-f]{16}-01");
        assertThat(values(fields, "tracestate")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"01-" + TRACE + "-" + SPAN + "-01", "cc-" + TRACE + "-" + SPAN + "-01-what-comes"})
    void aLaterVersionIsUnderstoodAsFarAsItIsKnown(String text) {
        assertThat(hex(forward(fields("traceparent", text), true, PROPAGATE).parent()))
                .isEqualTo(SPAN);
    }

    @Test
    void twoContextsAreNone() {
        Fields fields = fields("traceparent", PARENT, "traceparent", PARENT);
        assertThat(forward(fields, true, PROPAGATE).parent()).isZero();
        assertThat(values(fields, "traceparent")).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a=1,b=2|true",
                "a=1 , , b=2|true",
                "1a@b=1|true",
                "a/_-*=x y|true",
                "A=1|false",
                "1=1|false",
                "a=1,a=2|false",
                "a|false",
                "a=|false",
                "a=b=c|false",
                "@a=1|false"
            })
    void aStateThatIsNotWellFormedIsDropped(String state, boolean kept) {
        Fields fields = fields("traceparent", PARENT, "tracestate", state);
        forward(fields, true, PROPAGATE);
        assertThat(values(fields, "tracestate")).hasSize(kept ? 1 : 0);
        assertThat(values(fields, "traceparent")).containsExactly(PARENT);
    }

    @Test
    void eachAttemptThatIsRecordedIsASpanOfItsOwn() {
        Fields fields = fields("traceparent", PARENT, "tracestate", "a=1");
        Trace trace = forward(fields, true, RECORD);
        assertThat(trace.isRecorded()).isTrue();
        assertThat(hex(trace.parent())).isEqualTo(SPAN);
        assertThat(hex(trace.span())).isNotEqualTo(SPAN);
        assertThat(trace.state().toString()).isEqualTo("a=1");
        traces.attempt(fields, trace, RECORD);
        long first = trace.attempt();
        traces.attempt(fields, trace, RECORD);
        assertThat(trace.attempt()).isNotIn(first, trace.span(), 0L);
        assertThat(values(fields, "traceparent")).containsExactly("00-" + TRACE + "-" + hex(trace.attempt()) + "-01");
        assertThat(values(fields, "tracestate")).containsExactly("a=1");
    }

    @Test
    void aCallersDecisionIsOurs() {
        Trace trace = forward(fields("traceparent", "00-" + TRACE + "-" + SPAN + "-00"), true, RECORD);
        assertThat(trace.isSampled()).isFalse();
        assertThat(trace.isRecorded()).isFalse();
        TracingConfig own = TraceValues.of(true, W3C, false, 1);
        Fields fields = fields("traceparent", "00-" + TRACE + "-" + SPAN + "-00");
        assertThat(forward(fields, true, own).isRecorded()).isTrue();
    }

    @Test
    void theRatioOfSampledTracesIsKept() {
        TracingConfig tenth = settings(true, W3C, 0.1);
        int sampled = 0;
        for (int i = 0; i < 10_000; i++) {
            sampled += traces.begin(null, true, tenth).isSampled() ? 1 : 0;
        }
        assertThat(sampled).isBetween(700, 1300);
        assertThat(traces.begin(null, true, settings(true, W3C, 0)).isSampled()).isFalse();
    }

    // ---- B3

    @ParameterizedTest
    @CsvSource({
        TRACE + "-" + SPAN + "-1," + TRACE + ",true",
        TRACE + "-" + SPAN + "-d," + TRACE + ",true",
        TRACE + "-" + SPAN + "-0-05e3ac9a4f6e3b90," + TRACE + ",false",
        "a3ce929d0e0e4736-" + SPAN + "-1,0000000000000000a3ce929d0e0e4736,true",
        TRACE + "-" + SPAN + "," + TRACE + ",true",
    })
    void b3IsUnderstoodAndPassedOnAsW3C(String text, String id, boolean sampled) {
        TracingConfig both = settings(false, List.of(Propagator.B3, Propagator.TRACE_CONTEXT), 1);
        Fields fields = fields("b3", text, "traceparent", "nonsense", "tracestate", "a=1");
        Trace trace = forward(fields, true, both);
        assertThat(trace.isSampled()).isEqualTo(sampled);
        String end = sampled ? "1" : "0";
        assertThat(values(fields, "traceparent")).containsExactly("00-" + id + "-" + SPAN + "-0" + end);
        assertThat(values(fields, "b3")).containsExactly(id + "-" + SPAN + "-" + end);
        assertThat(values(fields, "tracestate")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2",
                "x",
                TRACE,
                TRACE + "-",
                TRACE + "-" + SPAN + "-",
                TRACE + "-" + SPAN + "-2",
                TRACE + "-" + SPAN + "-1-",
                TRACE + "-" + SPAN + "-1-05e3",
                "4bf9-" + SPAN + "-1",
                "0000000000000000-" + SPAN + "-1"
            })
    void b3ThatIsNotWellFormedCountsAsAbsent(String text) {
        assertThat(forward(fields("b3", text), true, settings(false, List.of(Propagator.B3), 1))
                        .parent())
                .isZero();
    }

    @Test
    void aDecisionAloneCounts() {
        Fields fields = fields("b3", "0");
        Trace trace = forward(fields, true, settings(true, List.of(Propagator.B3), 1));
        assertThat(trace.isSampled()).isFalse();
        assertThat(values(fields, "b3")).singleElement().asString().endsWith("-0");
    }

    @Test
    void b3InSeveralFieldsIsUnderstoodAndSpoken() {
        TracingConfig multi = settings(true, List.of(Propagator.B3_MULTI), 0);
        Fields fields =
                fields("X-B3-TraceId", TRACE, "X-B3-SpanId", SPAN, "X-B3-ParentSpanId", SPAN, "X-B3-Flags", "1");
        Trace trace = forward(fields, true, multi);
        assertThat(trace.isRecorded()).isTrue();
        traces.attempt(fields, trace, multi);
        assertThat(values(fields, "X-B3-TraceId")).containsExactly(TRACE);
        assertThat(values(fields, "X-B3-SpanId")).containsExactly(hex(trace.attempt()));
        assertThat(values(fields, "X-B3-Sampled")).containsExactly("1");
        assertThat(values(fields, "X-B3-ParentSpanId")).isEmpty();
    }
}
