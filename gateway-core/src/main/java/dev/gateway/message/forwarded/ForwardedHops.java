package dev.gateway.message.forwarded;

import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Forwarded hops: the hops that a request has come by, as {@code Forwarded} (RFC 7239) or {@code X-Forwarded-For} tell
 * them, the nearest first. Each proxy adds to the end, so this reads from the end: what a stranger wrote stands before what
 * trusted proxies did, and nothing in it can change how those are read. Used at once, before the fields are edited.
 */
public final class ForwardedHops {
    private static final AsciiString FOR = new AsciiString("for");
    private static final AsciiString PROTO = new AsciiString("proto");
    private static final AsciiString HOST = new AsciiString("host");

    private final Fields fields;
    private final FieldName name;
    private byte[] bytes = {}; // that have the line
    private int line; // that is read; those after it have been
    private int start;
    private int end; // of what is left of the line
    private boolean more; // whether the line has another element, which may be empty
    private int read; // number of hops that have been returned
    private @Nullable String proto; // of the last hop that was returned
    private @Nullable String host;
    private @Nullable String nearestProto; // of the first hop that named one
    private @Nullable String nearestHost;

    private ForwardedHops(Fields fields, FieldName name) {
        this.fields = fields;
        this.name = name;
        this.line = fields.size();
    }

    /**
     * Makes it of the fields of a request.
     *
     * @param name {@link FieldName#FORWARDED} or {@link FieldName#X_FORWARDED_FOR}
     */
    static ForwardedHops of(Fields fields, FieldName name) {
        return new ForwardedHops(fields, name);
    }

    /** Returns all hops, the first one first. */
    static List<String> all(Fields fields, FieldName name) {
        List<String> found = new ArrayList<>();
        ForwardedHops hops = of(fields, name);
        for (String hop = hops.next(); hop != null; hop = hops.next()) {
            found.add(hop);
        }
        Collections.reverse(found);
        return found;
    }

    /**
     * Returns the next hop: an address with or without a port, or any other word; empty if an element names none. Null
     * if there is no other.
     */
    public @Nullable String next() {
        while (more || previousLine()) {
            int to = end;
            int from = beginning(to);
            more = from > start;
            end = from - 1;
            while (from < to && Ascii.isSpace(bytes[from])) {
                from++;
            }
            while (to > from && Ascii.isSpace(bytes[to - 1])) {
                to--;
            }
            if (from < to) { // lists may have empty elements
                read++;
                return name.equals(FieldName.FORWARDED) ? element(from, to) : text(from, to);
            }
        }
        return null;
    }

    /** Returns what the proxies say, if the hop that was returned last is the client. To be called before fields are edited. */
    public ForwardedClaims claims(AsciiString scheme, AsciiString authority) {
        return name.equals(FieldName.FORWARDED)
                ? ForwardedClaims.ofElement(
                        read,
                        proto == null ? nearestProto : proto,
                        host == null ? nearestHost : host,
                        scheme,
                        authority)
                : ForwardedClaims.ofLists(fields, read, () -> all(fields, name).size(), scheme, authority);
    }

    /** Reads an element of {@code Forwarded}, and returns its hop. */
    private String element(int from, int to) {
        proto = parameter(from, to, PROTO);
        host = parameter(from, to, HOST);
        nearestProto = nearestProto == null ? proto : nearestProto;
        nearestHost = nearestHost == null ? host : nearestHost;
        String hop = parameter(from, to, FOR);
        return hop == null ? "" : hop;
    }

    private boolean previousLine() {
        do {
            line--;
        } while (line >= 0 && fields.id(line) != name.id());
        if (line < 0) {
            line = 0;
            return false;
        }
        AsciiString value = fields.value(line);
        bytes = value.array();
        start = value.arrayOffset();
        end = start + value.length();
        more = true;
        return true;
    }

    /**
     * Returns where the element begins that ends here: after a comma that is not in a quoted string. Only {@code Forwarded}
     * has such strings.
     */
    private int beginning(int to) {
        boolean mayQuote = name.equals(FieldName.FORWARDED);
        boolean quoted = false;
        for (int i = to - 1; i >= start; i--) {
            byte b = bytes[i];
            if (b == '"' && mayQuote && !(quoted && isEscaped(i))) {
                quoted = !quoted;
            } else if (b == ',' && !quoted) {
                return i + 1;
            }
        }
        return start;
    }

    private boolean isEscaped(int at) {
        int backslashes = 0;
        while (at - backslashes > start && bytes[at - backslashes - 1] == '\\') {
            backslashes++;
        }
        return backslashes % 2 == 1;
    }

    /** Returns the value of a parameter of an element, null if the element does not have it. */
    private @Nullable String parameter(int from, int to, AsciiString wanted) {
        int length = wanted.length();
        int at = from;
        while (at < to) {
            while (at < to && (Ascii.isSpace(bytes[at]) || bytes[at] == ';')) {
                at++;
            }
            boolean isWanted =
                    at + length < to && bytes[at + length] == '=' && Ascii.equalsLower(bytes, at, length, wanted);
            int valueStart = at + length + 1;
            while (at < to && bytes[at] != ';') {
                at = bytes[at] == '"' ? afterString(at, to) : at + 1;
            }
            if (isWanted) {
                return value(valueStart, at);
            }
        }
        return null;
    }

    private int afterString(int at, int to) {
        int i = at + 1;
        while (i < to && bytes[i] != '"') {
            i += bytes[i] == '\\' ? 2 : 1;
        }
        return Math.min(i + 1, to);
    }

    private String value(int from, int to) {
        while (to > from && Ascii.isSpace(bytes[to - 1])) {
            to--;
        }
        boolean quoted = to - from >= 2 && bytes[from] == '"' && bytes[to - 1] == '"';
        return quoted ? text(from + 1, to - 1) : text(from, to); // what counts has nothing to escape
    }

    private String text(int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
    }
}
