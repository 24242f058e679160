package dev.gateway.filter.body;

import io.netty.util.AsciiString;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/** Content coding (RFC 9110, section 8.4.1). All have the same compressed data (RFC 1951) in a different format. */
public enum ContentCoding {
    /** RFC 1952. */
    GZIP("gzip"),
    /** The zlib format (RFC 1950), despite the name. */
    DEFLATE("deflate");

    /** The older name of gzip, which recipients must accept (RFC 9110, section 8.4.1.3). */
    private static final AsciiString X_GZIP = new AsciiString("x-gzip");

    private final AsciiString token;

    ContentCoding(String token) {
        this.token = new AsciiString(token);
    }

    /** Returns the name in header fields. */
    AsciiString token() {
        return token;
    }

    /** Creates the checksum of its data. */
    Checksum newChecksum() {
        return this == GZIP ? new CRC32() : new Adler32();
    }

    /** Returns the coding with this name, ignoring case; null for others. */
    static @Nullable ContentCoding of(AsciiString name) {
        if (name.contentEqualsIgnoreCase(GZIP.token) || name.contentEqualsIgnoreCase(X_GZIP)) {
            return GZIP;
        }
        return name.contentEqualsIgnoreCase(DEFLATE.token) ? DEFLATE : null;
    }
}
