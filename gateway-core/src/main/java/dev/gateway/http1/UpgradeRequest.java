package dev.gateway.http1;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Recognises a request to go over to HTTP/2 (RFC 7540, section 3.2). */
final class UpgradeRequest {
    private static final AsciiString H2C = new AsciiString("h2c");
    private static final AsciiString UPGRADE = new AsciiString("upgrade");
    private static final AsciiString HTTP2_SETTINGS = new AsciiString("http2-settings");

    private UpgradeRequest() {}

    /** Returns the SETTINGS payload if the fields ask for {@code h2c} in proper form, else null. */
    static byte @Nullable [] settings(Fields fields) {
        int at = fields.find(FieldName.HTTP2_SETTINGS, 0);
        if (at < 0
                || fields.find(FieldName.HTTP2_SETTINGS, at + 1) >= 0
                || !fields.hasElement(FieldName.UPGRADE, H2C)
                || !fields.hasElement(FieldName.CONNECTION, UPGRADE)
                || !fields.hasElement(FieldName.CONNECTION, HTTP2_SETTINGS)) {
            return null;
        }
        try {
            return Base64.getUrlDecoder().decode(fields.value(at).toByteArray());
        } catch (IllegalArgumentException e) {
            return null; // not base64url: an ordinary request, as if it had not asked
        }
    }
}
