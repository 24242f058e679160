package dev.gateway.filter.coding;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;

/** Header fields with digests of a body or of a representation with its coding. A new coding makes them wrong. */
public final class DigestFields {
    private static final FieldName[] NAMES = {
        FieldName.of("Content-Digest"), // RFC 9530
        FieldName.of("Repr-Digest"),
        FieldName.of("Digest"), // RFC 3230, which the former replace
        FieldName.of("Content-MD5"), // RFC 2616, section 14.15
    };

    private DigestFields() {}

    /** Removes them from a head or from trailers. */
    public static void remove(Fields fields) {
        for (FieldName name : NAMES) {
            fields.remove(name);
        }
    }
}
