package dev.gateway.filter.body;

import io.netty.util.AsciiString;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/** A content coding (RFC 9110, section 8.4.1): how a body is compressed. What differs is put around the same data. */
public enum ContentCoding {
    /** RFC 1952. */
    GZIP("gzip"),
    /** RFC 1950, in spite of its name. */
    DEFLATE("deflate");

    /** What has been sent under an older name is the same (RFC 9110, section 8.4.1.3). */
    private static final AsciiString X_GZIP = new AsciiString("x-gzip");

    private final AsciiString token;

    ContentCoding(String token) {
        this.token = new AsciiString(token);
    }

    /** Returns its name in header fields. */
    AsciiString token() {
        return token;
    }

    /** Makes what its data are checked by. */
    Checksum newChecksum() {
        return this == GZIP ? new CRC32() : new Adler32();
    }

    /** Returns the coding of that name, whatever the case; null if it is none of these. */
    static @Nullable ContentCoding of(AsciiString name) {
        if (name.contentEqualsIgnoreCase(GZIP.token) || name.contentEqualsIgnoreCase(X_GZIP)) {
            return GZIP;
        }
        return name.contentEqualsIgnoreCase(DEFLATE.token) ? DEFLATE : null;
    }
}
