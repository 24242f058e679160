package dev.gateway.observe.accesslog;

import dev.gateway.message.FieldName;
import dev.gateway.message.path.NameReadings;
import io.netty.util.AsciiString;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Redaction of secrets: replaces what must not be shown in logs and traces. Immutable. */
public final class Redaction {
    static final AsciiString HIDDEN = new AsciiString("***");

    private static final List<String> ALWAYS = List.of(
            "Authorization",
            "Proxy-Authorization",
            "Authentication-Info",
            "Proxy-Authentication-Info",
            "Cookie",
            "Set-Cookie",
            "X-Api-Key",
            "X-Auth-Token");

    /**
     * What is hidden besides headers that always are.
     *
     * @param queryKeys names of query parameters
     */
    public record Hidden(Set<String> queryKeys, Set<FieldName> headers) {
        /** Nothing else. */
        public static final Hidden NOTHING = new Hidden(Set.of(), Set.of());
    }

    private final byte[][] queryKeys; // in lower case
    private final Set<FieldName> headers = new HashSet<>();
    private final BitSet known = new BitSet(); // of them, by their ids

    /** Makes it of what is configured, and what is always hidden. */
    public Redaction(Hidden hidden) {
        queryKeys = hidden.queryKeys().stream()
                .map(key -> key.toLowerCase(Locale.ROOT).getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        ALWAYS.forEach(name -> headers.add(FieldName.of(name)));
        headers.addAll(hidden.headers());
        headers.forEach(name -> known.set(name.id()));
    }

    private boolean hides(FieldName header) {
        return header.id() == 0 ? headers.contains(header) : known.get(header.id());
    }

    /** Returns a header's value, with what must not be shown of it hidden. */
    public AsciiString headerValue(FieldName name, AsciiString value) {
        if (hides(name)) {
            return HIDDEN;
        }
        return name.equals(FieldName.REFERER) || name.equals(FieldName.LOCATION) ? url(value) : value;
    }

    /** Returns a URL or a part of one, with the values of some query parameters hidden. */
    public AsciiString url(AsciiString url) {
        int query = queryKeys.length == 0 ? -1 : url.indexOf('?', 0);
        if (query < 0) {
            return url;
        }
        byte[] bytes = url.array();
        int end = url.arrayOffset() + url.length();
        ByteArrayOutputStream out = null;
        int kept = url.arrayOffset(); // up to here it has been copied, if there is anything to hide
        int start = url.arrayOffset() + query + 1;
        while (start < end) {
            int next = start;
            int equals = -1;
            while (next < end && bytes[next] != '&' && bytes[next] != ';') {
                equals = bytes[next] == '=' && equals < 0 ? next : equals;
                next++;
            }
            if (equals >= 0 && isHidden(bytes, start, equals)) {
                out = out == null ? new ByteArrayOutputStream(url.length()) : out;
                out.write(bytes, kept, equals + 1 - kept);
                out.write(HIDDEN.array(), HIDDEN.arrayOffset(), HIDDEN.length());
                kept = next;
            }
            start = next + 1;
        }
        if (out == null) {
            return url;
        }
        out.write(bytes, kept, end - kept);
        return new AsciiString(out.toByteArray(), false);
    }

    private boolean isHidden(byte[] bytes, int start, int end) {
        for (byte[] key : queryKeys) {
            if (NameReadings.include(bytes, start, end, key)) {
                return true;
            }
        }
        return false;
    }
}
