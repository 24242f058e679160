package dev.gateway.message;

import io.netty.util.AsciiString;
import java.util.List;

/** Shared caches (RFC 9111): whether they may keep a response that is for one client only. */
public final class SharedCaches {
    private static final AsciiString PRIVATE = new AsciiString("private");
    private static final AsciiString NO_STORE = new AsciiString("no-store");
    private static final String PUBLIC = "public";
    private static final String S_MAXAGE = "s-maxage";

    /** Tells single caches what others take from {@code Cache-Control} (RFC 9213, and the Edge Architecture). */
    private static final List<FieldName> TARGETED =
            List.of(FieldName.of("CDN-Cache-Control"), FieldName.of("Surrogate-Control"));

    private SharedCaches() {}

    /** Whether a response says that they may keep it. */
    public static boolean areInvited(Fields response) {
        for (int i = response.find(FieldName.CACHE_CONTROL, 0);
                i >= 0;
                i = response.find(FieldName.CACHE_CONTROL, i + 1)) {
            AsciiString value = response.value(i).toLowerCase();
            if (value.contains(PUBLIC) || value.contains(S_MAXAGE)) {
                return true;
            }
        }
        return false;
    }

    /** Keeps them from keeping a response. The client's own cache may keep it as before, unless they had been invited. */
    public static void refuse(Fields response) {
        TARGETED.forEach(response::remove);
        if (areInvited(response)) {
            response.set(FieldName.CACHE_CONTROL, PRIVATE);
        } else if (!response.hasElement(FieldName.CACHE_CONTROL, PRIVATE)
                && !response.hasElement(FieldName.CACHE_CONTROL, NO_STORE)) {
            response.add(FieldName.CACHE_CONTROL, PRIVATE); // besides max-age, for example
        }
    }
}
