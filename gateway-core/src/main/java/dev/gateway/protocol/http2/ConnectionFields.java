package dev.gateway.protocol.http2;

import dev.gateway.message.FieldName;

/** The fields that speak of an HTTP/1.1 connection and have no place in HTTP/2 (RFC 9113, section 8.2.2). */
final class ConnectionFields {
    private static final long FORBIDDEN = bit(FieldName.CONNECTION)
            | bit(FieldName.KEEP_ALIVE)
            | bit(FieldName.PROXY_CONNECTION)
            | bit(FieldName.TRANSFER_ENCODING)
            | bit(FieldName.UPGRADE);
    private static final long LEFT_OUT = FORBIDDEN | bit(FieldName.HTTP2_SETTINGS) | bit(FieldName.HOST);

    private ConnectionFields() {}

    private static long bit(FieldName name) {
        return 1L << name.id();
    }

    /** Whether a message that holds the field is malformed; ids are those of {@link FieldName}, not 0. */
    static boolean isForbidden(int id) {
        return (FORBIDDEN & 1L << id) != 0;
    }

    /** Whether the field is left out of what is sent: forbidden, or said by {@code :authority}. */
    static boolean isLeftOut(int id) {
        return (LEFT_OUT & 1L << id) != 0;
    }
}
