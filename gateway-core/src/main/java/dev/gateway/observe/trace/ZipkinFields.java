package dev.gateway.observe.trace;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.observe.trace.RemoteContext.Decision;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** Reads and writes Zipkin's B3, in one field or in several. What is not well-formed counts as absent. */
final class ZipkinFields {
    private static final FieldName SINGLE = FieldName.of("b3");
    private static final FieldName TRACE = FieldName.of("X-B3-TraceId");
    private static final FieldName SPAN = FieldName.of("X-B3-SpanId");
    private static final FieldName PARENT = FieldName.of("X-B3-ParentSpanId");
    private static final FieldName SAMPLED = FieldName.of("X-B3-Sampled");
    private static final FieldName FLAGS = FieldName.of("X-B3-Flags");
    private static final AsciiString YES = new AsciiString("1");
    private static final AsciiString NO = new AsciiString("0");

    private ZipkinFields() {}

    static @Nullable RemoteContext extractSingle(Fields fields) {
        int at = fields.find(SINGLE, 0);
        if (at < 0 || fields.find(SINGLE, at + 1) >= 0) {
            return null;
        }
        AsciiString text = fields.value(at);
        if (text.length() == 1) {
            Decision decision = decision(text);
            return decision == null ? null : new RemoteContext(0, 0, 0, decision);
        }
        int dash = text.indexOf('-', 0);
        int spanEnd = dash + 17;
        if (dash < 0 || spanEnd > text.length()) {
            return null;
        }
        Decision decision = Decision.OPEN;
        if (spanEnd < text.length()) {
            int next = spanEnd + 2;
            boolean parent = text.length() == next + 17 && text.byteAt(next) == '-' && Hex.isLower(text, next + 1, 16);
            boolean valid = text.byteAt(spanEnd) == '-' && (text.length() == next || parent);
            Decision told = valid ? decision(text.subSequence(spanEnd + 1, next, false)) : null;
            if (told == null) {
                return null;
            }
            decision = told;
        }
        return context(text.subSequence(0, dash, false), text.subSequence(dash + 1, spanEnd, false), decision);
    }

    static @Nullable RemoteContext extractMulti(Fields fields) {
        AsciiString trace = fields.first(TRACE);
        AsciiString span = fields.first(SPAN);
        AsciiString sampled = fields.first(SAMPLED);
        AsciiString flags = fields.first(FLAGS);
        Decision decision = flags != null && flags.equals(YES)
                ? Decision.YES // debug
                : sampled == null ? Decision.OPEN : decision(sampled);
        if (decision == null) {
            return null;
        }
        if (trace == null && span == null) {
            return decision == Decision.OPEN ? null : new RemoteContext(0, 0, 0, decision);
        }
        return trace == null || span == null ? null : context(trace, span, decision);
    }

    private static @Nullable Decision decision(AsciiString word) {
        return switch (word.toString()) {
            case "1", "d", "true" -> Decision.YES;
            case "0", "false" -> Decision.NO;
            default -> null;
        };
    }

    private static @Nullable RemoteContext context(AsciiString trace, AsciiString span, Decision decision) {
        int digits = trace.length();
        if ((digits != 16 && digits != 32)
                || span.length() != 16
                || !Hex.isLower(trace, 0, digits)
                || !Hex.isLower(span, 0, 16)) {
            return null;
        }
        long high = digits == 32 ? Hex.parse(trace, 0, 16) : 0;
        long low = Hex.parse(trace, digits - 16, 16);
        long spanId = Hex.parse(span, 0, 16);
        return (high | low) == 0 || spanId == 0 ? null : new RemoteContext(high, low, spanId, decision);
    }

    static void injectSingle(Fields fields, Trace trace, long span) {
        byte[] text = new byte[51];
        int end = Hex.write(trace.low(), text, Hex.write(trace.high(), text, 0));
        text[end] = '-';
        end = Hex.write(span, text, end + 1);
        text[end] = '-';
        text[end + 1] = (byte) (trace.isSampled() ? '1' : '0');
        fields.set(SINGLE, new AsciiString(text, false));
    }

    static void removeSingle(Fields fields) {
        fields.remove(SINGLE);
    }

    static void injectMulti(Fields fields, Trace trace, long span) {
        removeMulti(fields);
        byte[] id = new byte[32];
        Hex.write(trace.low(), id, Hex.write(trace.high(), id, 0));
        byte[] spanId = new byte[16];
        Hex.write(span, spanId, 0);
        fields.add(TRACE, new AsciiString(id, false));
        fields.add(SPAN, new AsciiString(spanId, false));
        fields.add(SAMPLED, trace.isSampled() ? YES : NO);
    }

    static void removeMulti(Fields fields) {
        fields.remove(TRACE);
        fields.remove(SPAN);
        fields.remove(PARENT);
        fields.remove(SAMPLED);
        fields.remove(FLAGS);
    }
}
