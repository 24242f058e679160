package dev.gateway.filter.coding;

import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.util.AsciiString;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/** Content coding (RFC 9110, section 8.4.1). The JDK knows gzip and deflate; the others have optional libraries. */
public enum ContentCoding {
    /** RFC 1952. */
    GZIP("gzip"),
    /** The zlib format (RFC 1950), despite the name. */
    DEFLATE("deflate"),
    /** Brotli (RFC 7932). */
    BR("br"),
    /** Zstandard (RFC 8878), with a window of at most 8 MB (RFC 9659). */
    ZSTD("zstd");

    /** The older name of gzip, which recipients must accept (RFC 9110, section 8.4.1.3). */
    private static final AsciiString X_GZIP = new AsciiString("x-gzip");

    private static final ContentCoding[] ALL = values();

    private final AsciiString token;

    ContentCoding(String token) {
        this.token = new AsciiString(token);
    }

    /** Returns the name in header fields. */
    public AsciiString token() {
        return token;
    }

    /** Returns the failure of a body that is not valid in this coding. */
    public Failure invalid(String why) {
        return Failure.of(
                Cause.CLIENT_PROTOCOL_ERROR, "a body that is not valid " + token + ": " + why + " (Decompression)");
    }

    /** Creates the checksum of the data of gzip or deflate. */
    public Checksum newChecksum() {
        return this == GZIP ? new CRC32() : new Adler32();
    }

    /** Returns the coding with this name, ignoring case; null for others. */
    public static @Nullable ContentCoding of(AsciiString name) {
        for (ContentCoding each : ALL) {
            if (name.contentEqualsIgnoreCase(each.token)) {
                return each;
            }
        }
        return name.contentEqualsIgnoreCase(X_GZIP) ? GZIP : null;
    }
}
