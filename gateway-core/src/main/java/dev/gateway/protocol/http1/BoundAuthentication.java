package dev.gateway.protocol.http1;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;

/** Authentication that servers may take for that of all that follows on a connection (RFC 4559, section 6). */
final class BoundAuthentication {
    private static final AsciiString[] SCHEMES = {new AsciiString("NTLM"), new AsciiString("Negotiate")};

    private BoundAuthentication() {}

    /** Whether any field of that name begins with such a scheme, or has one in its list. */
    static boolean isIn(Fields fields, FieldName name) {
        for (int i = fields.find(name, 0); i >= 0; i = fields.find(name, i + 1)) {
            if (isIn(fields.value(i))) {
                return true;
            }
        }
        return false;
    }

    /** Also takes a parameter's value that has such a word for it, which costs no more than a connection. */
    private static boolean isIn(AsciiString value) {
        for (AsciiString scheme : SCHEMES) {
            if (AsciiString.containsIgnoreCase(value, scheme)) {
                return true;
            }
        }
        return false;
    }
}
