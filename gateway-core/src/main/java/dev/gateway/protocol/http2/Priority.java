package dev.gateway.protocol.http2;

import io.netty.util.AsciiString;

/**
 * What a message or frame says of a response's priority (RFC 9218, section 4): a dictionary of RFC 8941, of which two
 * members are known. Immutable; there are few of them.
 *
 * @param urgency 0 for the most urgent to 7, or {@link #UNSAID}
 * @param incremental 1 if a part of the response is useful before the rest, 0 if not, or {@link #UNSAID}
 */
record Priority(int urgency, int incremental) {
    static final int UNSAID = -1;
    static final int URGENCIES = 8;
    static final int DEFAULT_URGENCY = 3;

    /** Says nothing. */
    static final Priority NONE = new Priority(UNSAID, UNSAID);

    /** What a request that says nothing means. */
    static final Priority DEFAULT = new Priority(DEFAULT_URGENCY, 0);

    boolean saysNothing() {
        return urgency == UNSAID && incremental == UNSAID;
    }

    boolean isIncremental() {
        return incremental == 1;
    }

    /** Returns what is said here, and where nothing is, what is said there. */
    Priority or(Priority other) {
        return new Priority(
                urgency == UNSAID ? other.urgency : urgency, incremental == UNSAID ? other.incremental : incremental);
    }

    /** Reads a field's value. Members that are unknown or have no valid value are ignored, as is what is no dictionary. */
    static Priority parse(AsciiString value) {
        int urgency = UNSAID;
        int incremental = UNSAID;
        int end = value.length();
        for (int at = 0; at < end; at++) {
            at = skipSpace(value, at);
            int key = at;
            while (at < end && isKey(value.byteAt(at))) {
                at++;
            }
            int keyLength = at - key;
            boolean assigned = at < end && value.byteAt(at) == '=';
            int item = assigned ? at + 1 : at;
            at = endOfMember(value, item);
            if (keyLength == 0 || at < 0) {
                return NONE;
            }
            int itemLength = itemEnd(value, item, at) - item;
            if (keyLength == 1 && value.byteAt(key) == 'u') {
                urgency = assigned ? urgency(value, item, itemLength) : UNSAID;
            } else if (keyLength == 1 && value.byteAt(key) == 'i') {
                incremental = assigned ? flag(value, item, itemLength) : 1;
            }
        }
        return urgency == UNSAID && incremental == UNSAID ? NONE : new Priority(urgency, incremental);
    }

    private static int urgency(AsciiString value, int start, int length) {
        int digit = length == 1 ? value.byteAt(start) - '0' : UNSAID;
        return digit >= 0 && digit < URGENCIES ? digit : UNSAID;
    }

    private static int flag(AsciiString value, int start, int length) {
        int digit = length == 2 && value.byteAt(start) == '?' ? value.byteAt(start + 1) - '0' : UNSAID;
        return digit == 0 || digit == 1 ? digit : UNSAID;
    }

    private static boolean isKey(byte b) {
        return (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || b == '_' || b == '-' || b == '.' || b == '*';
    }

    private static int skipSpace(AsciiString value, int from) {
        int at = from;
        while (at < value.length() && (value.byteAt(at) == ' ' || value.byteAt(at) == '\t')) {
            at++;
        }
        return at;
    }

    /** Returns where the comma after a member stands, or the end; -1 if a string does not end. */
    private static int endOfMember(AsciiString value, int from) {
        boolean quoted = false;
        for (int at = from; at < value.length(); at++) {
            byte b = value.byteAt(at);
            if (quoted && b == '\\') {
                at++;
            } else if (b == '"') {
                quoted = !quoted;
            } else if (b == ',' && !quoted) {
                return at;
            }
        }
        return quoted ? -1 : value.length();
    }

    /** Returns where an item ends within its member: before parameters and white space. */
    private static int itemEnd(AsciiString value, int from, int to) {
        int at = from;
        while (at < to && value.byteAt(at) != ';' && value.byteAt(at) != ' ' && value.byteAt(at) != '\t') {
            at++;
        }
        return at;
    }
}
