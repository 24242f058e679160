package dev.gateway.message;

import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Shared caches (RFC 9111): whether they may keep a response that is for one client only. */
public final class SharedCaches {
    private static final AsciiString PRIVATE = new AsciiString("private");
    private static final AsciiString NO_STORE = new AsciiString("no-store");
    private static final AsciiString SUFFIX = new AsciiString("-cache-control");

    /** Fields by which servers tell single caches what to keep, besides those of RFC 9213. */
    private static final List<FieldName> TARGETED =
            List.of(FieldName.of("Surrogate-Control"), FieldName.of("X-Accel-Expires"), FieldName.of("Edge-Control"));

    private SharedCaches() {}

    /** Whether a response says that they may keep it, or tells some of them something of its own. */
    public static boolean areInvited(Fields response) {
        return TARGETED.stream().anyMatch(response::contains)
                || response.findUnknown(SharedCaches::isTargeted) >= 0
                || elements(response).stream().anyMatch(SharedCaches::isInvitation);
    }

    /** Keeps them from keeping a response. The client's own cache may keep it as before. */
    public static void refuse(Fields response) {
        removeTargeted(response);
        List<String> elements = elements(response);
        boolean refused = response.hasElement(FieldName.CACHE_CONTROL, PRIVATE)
                || response.hasElement(FieldName.CACHE_CONTROL, NO_STORE);
        boolean changed = elements.removeIf(SharedCaches::isInvitation);
        if (!refused) {
            changed = elements.add(PRIVATE.toString());
        }
        if (changed) {
            response.set(FieldName.CACHE_CONTROL, String.join(", ", elements));
        }
    }

    /** Removes the fields that some of them take instead of {@code Cache-Control}. */
    public static void removeTargeted(Fields response) {
        TARGETED.forEach(response::remove);
        response.removeUnknown(SharedCaches::isTargeted);
    }

    /** Whether a name is that of a targeted field (RFC 9213), such as {@code CDN-Cache-Control}. */
    private static boolean isTargeted(byte[] bytes, int start, int length) {
        int at = length - SUFFIX.length();
        return at > 0 && Ascii.equalsLower(bytes, start + at, SUFFIX.length(), SUFFIX);
    }

    private static boolean isInvitation(String element) {
        String lower = element.toLowerCase(Locale.ROOT);
        return lower.equals("public") || lower.startsWith("s-maxage") || lower.equals("proxy-revalidate");
    }

    /** Returns the elements of {@code Cache-Control}. A comma inside a quoted string separates none. */
    private static List<String> elements(Fields response) {
        List<String> found = new ArrayList<>();
        for (int i = response.find(FieldName.CACHE_CONTROL, 0);
                i >= 0;
                i = response.find(FieldName.CACHE_CONTROL, i + 1)) {
            String value = response.value(i).toString();
            boolean quoted = false;
            int start = 0;
            for (int at = 0; at <= value.length(); at++) {
                boolean ends = at == value.length();
                quoted ^= !ends && value.charAt(at) == '"';
                if (ends || (!quoted && value.charAt(at) == ',')) {
                    String element = value.substring(start, at).strip();
                    if (!element.isEmpty()) {
                        found.add(element);
                    }
                    start = at + 1;
                }
            }
        }
        return found;
    }
}
