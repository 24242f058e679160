package dev.gateway.protocol.http1;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.UpgradeWish;
import dev.gateway.net.ByteStreamHalf;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.Cost;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** One request on an upstream HTTP/1 connection: frames it. Made by, and part of, its connection. */
final class Http1ClientStream extends OutgoingStream<Http1ClientConnection> implements ClientStream {
    private final ResponseEvents events;
    private @Nullable RequestHead request;
    private @Nullable AsciiString key; // of a WebSocket handshake
    private boolean awaitsTunnel;
    private @Nullable ArrayDeque<ByteBuf> early; // bytes for a tunnel not yet open; no credit is given for them
    private long earlyBytes; // of memory
    private boolean earlyLast;

    Http1ClientStream(Http1ClientConnection carrier, ResponseEvents events) {
        super(carrier, carrier.ctx.channel());
        this.events = events;
    }

    ResponseEvents events() {
        return events;
    }

    @Override
    public boolean takesLogins() {
        return true;
    }

    @Override
    public long heldHeap() {
        return Cost.UPSTREAM;
    }

    /** Whether the response has no body whatever it announces. */
    boolean isHeadRequest() {
        return request != null && request.method().equals(Method.HEAD);
    }

    /** Whether a successful response opens a tunnel. */
    boolean isConnect() {
        return request != null && request.isConnect();
    }

    /** Whether that tunnel is opened by 101. */
    boolean isUpgrade() {
        return request != null && (request.protocol() != null || request.wish() != null);
    }

    /** Whether the connection switches only after the request, which is an ordinary one until then. */
    boolean isWish() {
        return request != null && request.wish() != null;
    }

    /** The upstream grants the upgrade by this response. */
    void onGranted(ResponseHead head) {
        UpgradeWish wish = request == null ? null : request.wish();
        AsciiString named = head.fields().first(FieldName.UPGRADE);
        AsciiString granted = wish == null || named == null ? null : wish.find(named);
        if (request != null && granted != null) {
            request.switchTo(granted);
        }
    }

    /** Whether what it proves of its client may hold for the whole connection. */
    boolean isBound() {
        return request != null && BoundAuthentication.isIn(request.fields(), FieldName.AUTHORIZATION);
    }

    /** Whether it asked for a tunnel and, the final response being there, does not get one. */
    boolean isTunnelRefused() {
        return awaitsTunnel;
    }

    /** The upstream ignores the upgrade; returns whether its response can be used all the same. */
    boolean refuseUpgrade() {
        return request != null && request.refuseUpgrade();
    }

    @Override
    public void head(RequestHead head, boolean last) {
        if (isEnded() || isStarted()) {
            return;
        }
        request = head;
        long length = head.contentLength();
        Framing framing;
        if (head.isConnect()) {
            awaitsTunnel = true;
            framing = Framing.UNTIL_CLOSE;
            length = RequestHead.UNKNOWN_LENGTH;
        } else if (last) {
            framing = Framing.NONE;
            length = saysLength(head) ? 0 : RequestHead.UNKNOWN_LENGTH;
        } else {
            framing = length >= 0 ? Framing.FIXED : Framing.CHUNKED;
        }
        begin(framing, length);
        AsciiString protocol = head.protocol();
        UpgradeWish wish = head.wish();
        if (protocol != null) {
            writeUpgrade(head, protocol, protocol.equals(UpgradeRequest.WEBSOCKET), framing, length);
        } else if (wish != null) {
            if (wish.http2Settings() != null) {
                head.fields().set(FieldName.HTTP2_SETTINGS, wish.http2Settings());
            }
            writeUpgrade(head, wish.text(), wish.find(UpgradeRequest.WEBSOCKET) != null, framing, length);
        } else {
            carrier().writeHead(head, framing, length);
        }
        if (last) {
            finish();
        }
    }

    private void writeUpgrade(
            RequestHead head, AsciiString protocols, boolean webSocket, Framing framing, long length) {
        Fields fields = head.fields();
        fields.set(FieldName.UPGRADE, protocols);
        fields.remove(FieldName.SEC_WEBSOCKET_KEY);
        if (webSocket) {
            AsciiString chosen = WebSocketKey.next();
            key = chosen;
            fields.add(FieldName.SEC_WEBSOCKET_KEY, chosen);
        }
        carrier().writeHead(head, framing, length);
        // The core may send the same head once more, by whichever protocol.
        fields.remove(FieldName.UPGRADE);
        fields.remove(FieldName.SEC_WEBSOCKET_KEY);
        fields.remove(FieldName.HTTP2_SETTINGS);
    }

    /**
     * Returns what is wrong with a 101, null if it answers what was asked (RFC 9110, section 15.2.2; RFC 6455, section 4.1).
     * Fields that frame a body mean nothing in it: nginx and HAProxy ignore them, too.
     */
    @Nullable
    Http1Violation refuse(ResponseHead switching) {
        RequestHead asked = request;
        Fields fields = switching.fields();
        if (asked == null || !isUpgrade()) {
            return Http1Violation.UNEXPECTED_UPGRADE;
        }
        int at = fields.find(FieldName.UPGRADE, 0);
        if (at < 0) {
            return Http1Violation.UPGRADE_TO_NOTHING;
        }
        if (!UpgradeRequest.isUpgrade(fields)) {
            return Http1Violation.UPGRADE_WITHOUT_CONNECTION;
        }
        if (fields.countElements(FieldName.UPGRADE) > 1) {
            return Http1Violation.UPGRADE_TO_SEVERAL;
        }
        AsciiString named = fields.value(at);
        AsciiString protocol = asked.protocol();
        UpgradeWish wish = asked.wish();
        boolean isAsked =
                protocol != null ? protocol.contentEqualsIgnoreCase(named) : wish != null && wish.find(named) != null;
        if (!isAsked) {
            return Http1Violation.BAD_UPGRADE;
        }
        return key != null && named.contentEqualsIgnoreCase(UpgradeRequest.WEBSOCKET)
                ? refuseAccept(fields, key)
                : null;
    }

    private static @Nullable Http1Violation refuseAccept(Fields fields, AsciiString key) {
        int at = fields.find(FieldName.SEC_WEBSOCKET_ACCEPT, 0);
        if (at < 0) {
            return Http1Violation.UPGRADE_WITHOUT_ACCEPT;
        }
        return fields.find(FieldName.SEC_WEBSOCKET_ACCEPT, at + 1) < 0
                        && fields.value(at).contentEquals(WebSocketKey.accept(key))
                ? null
                : Http1Violation.BAD_ACCEPT;
    }

    /** Whether a request without content says so: if its client does, or its method expects some (RFC 9110, section 8.6). */
    private static boolean saysLength(RequestHead head) {
        Method method = head.method();
        return method.equals(Method.POST)
                || method.equals(Method.PUT)
                || method.equals(Method.PATCH)
                || head.fields().contains(FieldName.CONTENT_LENGTH);
    }

    /**
     * Bytes for a tunnel wait until there is one: an upstream that opens none would take them for a request, and nobody
     * has checked that.
     */
    @Override
    public void data(ByteBuf data, boolean last) {
        if (!awaitsTunnel || isEnded()) {
            super.data(data, last);
            return;
        }
        if (early == null) {
            early = new ArrayDeque<>(4);
        }
        earlyBytes += BufferCost.kept(data);
        early.add(data);
        earlyLast |= last;
    }

    @Override
    long early() {
        return earlyBytes;
    }

    @Override
    public boolean isWritable() {
        return !awaitsTunnel && super.isWritable();
    }

    /** The tunnel is open, and the core knows. */
    void sendEarly(ByteStreamHalf tunnel) {
        awaitsTunnel = false;
        ArrayDeque<ByteBuf> held = early;
        early = null;
        earlyBytes = 0;
        if (held != null) {
            for (ByteBuf data = held.poll(); data != null; data = held.poll()) {
                tunnel.data(data, earlyLast && held.isEmpty());
            }
            tunnel.flush();
            events.onWritable();
        }
    }

    @Override
    void end() {
        super.end();
        awaitsTunnel = false;
        ArrayDeque<ByteBuf> held = early;
        early = null;
        earlyBytes = 0;
        if (held != null) {
            held.forEach(ByteBuf::release);
        }
    }

    @Override
    void onMisframed(Failure failure) {
        carrier().fail(this, failure);
    }
}
