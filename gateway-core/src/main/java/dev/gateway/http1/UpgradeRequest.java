package dev.gateway.http1;

import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Recognizes the protocol that a request would have its connection switch to (RFC 9110, section 7.8). */
final class UpgradeRequest {
    static final AsciiString WEBSOCKET = new AsciiString("websocket");

    private static final AsciiString H2C = new AsciiString("h2c");
    private static final AsciiString UPGRADE = new AsciiString("upgrade");
    private static final AsciiString HTTP2_SETTINGS = new AsciiString("http2-settings");

    private UpgradeRequest() {}

    /** Whether the connection is said to be upgraded, by a request or by the response to it. */
    static boolean isUpgrade(Fields fields) {
        return fields.contains(FieldName.UPGRADE) && fields.hasElement(FieldName.CONNECTION, UPGRADE);
    }

    /** Returns the SETTINGS payload if the fields ask for {@code h2c} in proper form (RFC 7540, section 3.2), else null. */
    static byte @Nullable [] settings(Fields fields) {
        int at = fields.find(FieldName.HTTP2_SETTINGS, 0);
        if (at < 0
                || fields.find(FieldName.HTTP2_SETTINGS, at + 1) >= 0
                || !isUpgrade(fields)
                || !fields.hasElement(FieldName.UPGRADE, H2C)
                || !fields.hasElement(FieldName.CONNECTION, HTTP2_SETTINGS)) {
            return null;
        }
        try {
            return Base64.getUrlDecoder().decode(fields.value(at).toByteArray());
        } catch (IllegalArgumentException e) {
            return null; // not base64url: an ordinary request, as if it had not asked
        }
    }

    /**
     * Makes a GET that asks for a tunnel the extended CONNECT that it is for the core.
     *
     * @return the client's key for a WebSocket handshake, which concerns this hop alone; null without one
     */
    static @Nullable AsciiString translate(RequestHead head) {
        Fields fields = head.fields();
        AsciiString protocol = tunnel(fields);
        if (protocol == null) {
            return null;
        }
        AsciiString key = protocol.equals(WEBSOCKET) ? key(fields) : null;
        fields.remove(FieldName.SEC_WEBSOCKET_KEY);
        head.upgradeTo(protocol);
        return key;
    }

    /**
     * Returns the protocol of the tunnel that the fields ask for, in lower case, or null. Of several it is WebSocket if
     * that is among them. Never {@code h2c}: its requests would pass all rules for requests.
     */
    private static @Nullable AsciiString tunnel(Fields fields) {
        if (!isUpgrade(fields)) {
            return null;
        }
        if (fields.hasElement(FieldName.UPGRADE, WEBSOCKET)) {
            return key(fields) == null ? null : WEBSOCKET;
        }
        int at = fields.find(FieldName.UPGRADE, 0);
        AsciiString only = fields.value(at).toLowerCase();
        boolean one = fields.find(FieldName.UPGRADE, at + 1) < 0 && Ascii.isToken(only);
        return one && !only.equals(H2C) ? only : null;
    }

    /** Returns the client's key for a WebSocket handshake if there is one, and it is valid, else null. */
    private static @Nullable AsciiString key(Fields fields) {
        int at = fields.find(FieldName.SEC_WEBSOCKET_KEY, 0);
        if (at < 0 || fields.find(FieldName.SEC_WEBSOCKET_KEY, at + 1) >= 0) {
            return null;
        }
        AsciiString key = fields.value(at);
        return WebSocketKey.isValid(key) ? key : null;
    }
}
