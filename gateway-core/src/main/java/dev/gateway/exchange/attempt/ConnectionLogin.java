package dev.gateway.exchange.attempt;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;

/** Logins that need several requests on one connection: NTLM, and Negotiate if one step is not enough (RFC 4559). */
public final class ConnectionLogin {
    private static final int UNAUTHORIZED = 401;
    private static final AsciiString[] SCHEMES = {new AsciiString("NTLM "), new AsciiString("Negotiate ")};

    private ConnectionLogin() {}

    /** Whether a request takes part in such a login. */
    public static boolean isTried(Fields fields) {
        AsciiString shown = fields.first(FieldName.AUTHORIZATION);
        return shown != null && isOne(shown);
    }

    private static boolean isOne(AsciiString value) {
        for (AsciiString scheme : SCHEMES) {
            if (value.length() > scheme.length() && value.regionMatches(true, 0, scheme, 0, scheme.length())) {
                return true;
            }
        }
        return false;
    }

    /** Whether a response asks for the next step of such a login. The first challenge names the scheme only. */
    public static boolean isUnderWay(ResponseHead head) {
        if (head.status() != UNAUTHORIZED) {
            return false;
        }
        Fields fields = head.fields();
        for (int i = fields.find(FieldName.WWW_AUTHENTICATE, 0);
                i >= 0;
                i = fields.find(FieldName.WWW_AUTHENTICATE, i + 1)) {
            if (isOne(fields.value(i))) {
                return true;
            }
        }
        return false;
    }
}
