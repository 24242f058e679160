package dev.gateway.observe.trace;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.observe.trace.RemoteContext.Decision;
import io.netty.util.AsciiString;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes {@code traceparent} and {@code tracestate}, to the letter of the W3C's recommendation: what is not
 * well-formed counts as absent.
 */
final class TraceParent {
    private static final FieldName PARENT = FieldName.TRACEPARENT;
    private static final FieldName STATE = FieldName.TRACESTATE;

    private static final int LENGTH = 55;
    private static final int TRACE = 3;
    private static final int SPAN = 36;
    private static final int FLAGS = 53;
    private static final int MOST_MEMBERS = 32;
    private static final int LONGEST_STATE = 512;

    private TraceParent() {}

    static @Nullable RemoteContext extract(Fields fields) {
        int at = fields.find(PARENT, 0);
        if (at < 0) {
            return null;
        }
        RemoteContext found = fields.find(PARENT, at + 1) < 0 ? parse(fields.value(at)) : null;
        if (found != null && fields.contains(STATE) && !isState(state(fields))) {
            fields.remove(STATE);
        }
        return found;
    }

    private static @Nullable RemoteContext parse(AsciiString text) {
        int length = text.length();
        if (length < LENGTH
                || !Hex.isLower(text, 0, 2)
                || text.byteAt(TRACE - 1) != '-'
                || !Hex.isLower(text, TRACE, 32)
                || text.byteAt(SPAN - 1) != '-'
                || !Hex.isLower(text, SPAN, 16)
                || text.byteAt(FLAGS - 1) != '-'
                || !Hex.isLower(text, FLAGS, 2)) {
            return null;
        }
        long version = Hex.parse(text, 0, 2);
        // A later version may say more after a dash; this one must not.
        if (version == 0xff || (length > LENGTH && (version == 0 || text.byteAt(LENGTH) != '-'))) {
            return null;
        }
        long high = Hex.parse(text, TRACE, 16);
        long low = Hex.parse(text, TRACE + 16, 16);
        long span = Hex.parse(text, SPAN, 16);
        if ((high | low) == 0 || span == 0) {
            return null;
        }
        boolean sampled = (Hex.parse(text, FLAGS, 2) & 1) != 0;
        return new RemoteContext(high, low, span, sampled ? Decision.YES : Decision.NO);
    }

    /** Returns the state as one list, empty if there is none. */
    static AsciiString state(Fields fields) {
        int at = fields.find(STATE, 0);
        if (at < 0) {
            return AsciiString.EMPTY_STRING;
        }
        AsciiString value = fields.value(at);
        int next = fields.find(STATE, at + 1);
        if (next < 0) {
            return value;
        }
        StringBuilder all = new StringBuilder(value);
        for (int i = next; i >= 0; i = fields.find(STATE, i + 1)) {
            all.append(',').append(fields.value(i));
        }
        return new AsciiString(all);
    }

    private static boolean isState(AsciiString state) {
        if (state.length() > LONGEST_STATE) {
            return false;
        }
        Set<String> keys = new HashSet<>();
        for (String each : state.toString().split(",", -1)) {
            String member = each.strip();
            int equals = member.indexOf('=');
            if (member.isEmpty()) {
                continue; // allowed, and of no meaning
            }
            if (equals < 0
                    || !isKey(member.substring(0, equals))
                    || !isValue(member.substring(equals + 1))
                    || !keys.add(member.substring(0, equals))
                    || keys.size() > MOST_MEMBERS) {
                return false;
            }
        }
        return true;
    }

    private static boolean isKey(String key) {
        int at = key.indexOf('@');
        return at < 0
                ? isKeyPart(key, 256, false)
                : isKeyPart(key.substring(0, at), 241, true) && isKeyPart(key.substring(at + 1), 14, false);
    }

    private static boolean isKeyPart(String part, int longest, boolean mayBeginWithDigit) {
        if (part.isEmpty() || part.length() > longest) {
            return false;
        }
        char first = part.charAt(0);
        boolean begins = (first >= 'a' && first <= 'z') || (mayBeginWithDigit && first >= '0' && first <= '9');
        return begins
                && part.chars()
                        .allMatch(c -> (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || "_-*/".indexOf(c) >= 0);
    }

    private static boolean isValue(String value) {
        return !value.isEmpty()
                && value.length() <= 256
                && value.chars().allMatch(c -> c >= ' ' && c <= '~' && c != '=' && c != ',');
    }

    static void inject(Fields fields, Trace trace, long span) {
        byte[] text = new byte[LENGTH];
        text[0] = text[1] = '0';
        text[TRACE - 1] = text[SPAN - 1] = text[FLAGS - 1] = '-';
        Hex.write(trace.low(), text, Hex.write(trace.high(), text, TRACE));
        Hex.write(span, text, SPAN);
        text[FLAGS] = '0';
        text[FLAGS + 1] = (byte) (trace.isSampled() ? '1' : '0');
        fields.set(PARENT, new AsciiString(text, false));
    }

    static void remove(Fields fields) {
        fields.remove(PARENT);
        fields.remove(STATE); // which means nothing by itself
    }
}
