package dev.gateway.protocol.http1;

import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.ProxyFields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.UpgradeWish;
import io.netty.util.AsciiString;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Recognizes the protocol that a request would have its connection switch to (RFC 9110, section 7.8). */
final class UpgradeRequest {
    static final AsciiString WEBSOCKET = new AsciiString("websocket");

    private static final AsciiString H2C = new AsciiString("h2c");
    private static final AsciiString UPGRADE = new AsciiString("upgrade");
    private static final AsciiString HTTP2_SETTINGS = new AsciiString("http2-settings");
    private static final int MOST_PROTOCOLS = 8; // that anybody would wish for

    private UpgradeRequest() {}

    /** Whether the connection is said to be upgraded, by a request or by the response to it. */
    static boolean isUpgrade(Fields fields) {
        return fields.contains(FieldName.UPGRADE) && fields.hasElement(FieldName.CONNECTION, UPGRADE);
    }

    /**
     * Returns the SETTINGS payload if the fields ask for {@code h2c} in proper form (RFC 7540, section 3.2), else null. A request
     * that has passed a proxy asks in vain: its client would leave that proxy, and whatever the proxy forbids or vouches for.
     */
    static byte @Nullable [] settings(Fields fields) {
        int at = fields.find(FieldName.HTTP2_SETTINGS, 0);
        if (at < 0
                || fields.find(FieldName.HTTP2_SETTINGS, at + 1) >= 0
                || !isUpgrade(fields)
                || !fields.hasElement(FieldName.UPGRADE, H2C)
                || !fields.hasElement(FieldName.CONNECTION, HTTP2_SETTINGS)
                || ProxyFields.hop(fields) != null) {
            return null;
        }
        try {
            return Base64.getUrlDecoder().decode(fields.value(at).toByteArray());
        } catch (IllegalArgumentException e) {
            return null; // not base64url: an ordinary request, as if it had not asked
        }
    }

    /**
     * Recognizes the wish for another protocol. A GET without a body that wishes for one becomes the extended CONNECT that it is
     * for the core, so that it may also go to an HTTP/2 upstream. Any other request keeps its wish beside it.
     *
     * @return the client's key for a WebSocket handshake, which concerns this hop alone; null without one
     */
    static @Nullable AsciiString translate(RequestHead head, boolean hasBody) {
        Fields fields = head.fields();
        if (!isUpgrade(fields) || head.method().equals(Method.CONNECT)) {
            return null;
        }
        AsciiString key = key(fields);
        List<AsciiString> protocols = protocols(fields, key != null);
        if (protocols.isEmpty()) {
            return null;
        }
        UpgradeWish wish = new UpgradeWish(protocols, fields.first(FieldName.HTTP2_SETTINGS));
        boolean webSocket = wish.find(WEBSOCKET) != null;
        fields.remove(FieldName.SEC_WEBSOCKET_KEY);
        if (protocols.size() == 1 && !hasBody && head.method().equals(Method.GET) && wish.find(H2C) == null) {
            head.upgradeTo(webSocket ? WEBSOCKET : protocols.get(0));
        } else {
            head.wishFor(wish);
        }
        return webSocket ? key : null;
    }

    /** Returns the protocols that the fields name, in the client's order: of WebSocket only if it has a valid key. */
    private static List<AsciiString> protocols(Fields fields, boolean webSocket) {
        List<AsciiString> named = fields.elements(FieldName.UPGRADE);
        named.removeIf(each -> !isProtocol(each) || (!webSocket && each.contentEqualsIgnoreCase(WEBSOCKET)));
        return named.size() > MOST_PROTOCOLS ? named.subList(0, MOST_PROTOCOLS) : named;
    }

    /** Whether it is a name with or without a version, such as {@code SPDY/3.1}. */
    private static boolean isProtocol(AsciiString text) {
        int slash = text.indexOf('/', 0);
        return slash < 0
                ? Ascii.isToken(text)
                : Ascii.isToken(text.subSequence(0, slash)) && Ascii.isToken(text.subSequence(slash + 1));
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
