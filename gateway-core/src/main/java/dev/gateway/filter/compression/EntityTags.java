package dev.gateway.filter.compression;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** Entity tags (RFC 9110, section 8.8.3) in conditions of requests. */
final class EntityTags {
    private static final FieldName IF_NONE_MATCH = FieldName.of("If-None-Match");

    private EntityTags() {}

    /**
     * Whether {@code If-None-Match} has exactly this strong tag: the client has stored a response with it, which the gateway
     * did not compress.
     */
    static boolean isStrongAmong(@Nullable AsciiString tag, Fields request) {
        if (tag == null || !tag.startsWith("\"")) {
            return false;
        }
        for (int at = request.find(IF_NONE_MATCH, 0); at >= 0; at = request.find(IF_NONE_MATCH, at + 1)) {
            if (isStrongIn(request.value(at), tag)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isStrongIn(AsciiString list, AsciiString tag) {
        int start = list.indexOf('"', 0);
        while (start >= 0) {
            int end = list.indexOf('"', start + 1);
            boolean weak = start > 0 && list.charAt(start - 1) == '/';
            if (!weak && end >= 0 && tag.contentEquals(list.subSequence(start, end + 1, false))) {
                return true;
            }
            start = end < 0 ? -1 : list.indexOf('"', end + 1);
        }
        return false;
    }
}
