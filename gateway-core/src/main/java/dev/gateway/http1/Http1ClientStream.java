package dev.gateway.http1;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ByteStreamHalf;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** One request on an upstream HTTP/1 connection: frames it. Made by, and part of, its connection. */
final class Http1ClientStream extends OutgoingStream<Http1ClientStream.Carrier> implements ClientStream {
    private final ResponseEvents events;
    private @Nullable RequestHead request;
    private @Nullable AsciiString key; // of a WebSocket handshake
    private boolean awaitsTunnel;
    private @Nullable ArrayDeque<ByteBuf> early; // bytes for a tunnel not yet open; no credit is given for them
    private boolean earlyLast;

    Http1ClientStream(Carrier carrier, ResponseEvents events) {
        super(carrier, carrier.ctx.channel());
        this.events = events;
    }

    /** What a client's stream asks of its connection. */
    abstract static non-sealed class Carrier extends Http1Connection {
        /** Its peer, if that forwards requests. */
        final Http1ClientSettings.@Nullable Proxy proxy;

        Carrier(ConnectionObserver observer, TimerWheel timers, Http1ClientSettings.@Nullable Proxy proxy) {
            super(observer, timers);
            this.proxy = proxy;
        }

        /** Writes a head, to be flushed later; owned from here on. */
        abstract void writeHead(ByteBuf head);

        /** The exchange cannot continue. */
        abstract void fail(Http1ClientStream from, Failure failure);
    }

    ResponseEvents events() {
        return events;
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
        return request != null && request.protocol() != null;
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
        if (protocol != null) {
            writeUpgrade(head, protocol);
        } else {
            carrier().writeHead(HeadWriter.request(channel.alloc(), head, framing, length, carrier().proxy));
        }
        if (last) {
            finish();
        }
    }

    private void writeUpgrade(RequestHead head, AsciiString protocol) {
        Fields fields = head.fields();
        fields.set(FieldName.UPGRADE, protocol);
        fields.remove(FieldName.SEC_WEBSOCKET_KEY);
        if (protocol.equals(UpgradeRequest.WEBSOCKET)) {
            AsciiString chosen = WebSocketKey.next();
            key = chosen;
            fields.add(FieldName.SEC_WEBSOCKET_KEY, chosen);
        }
        carrier()
                .writeHead(HeadWriter.request(
                        channel.alloc(), head, Framing.UNTIL_CLOSE, RequestHead.UNKNOWN_LENGTH, carrier().proxy));
        // The core may send the same head once more, by whichever protocol.
        fields.remove(FieldName.UPGRADE);
        fields.remove(FieldName.SEC_WEBSOCKET_KEY);
    }

    /** Whether a 101 answers what was asked (RFC 6455, section 4.1). */
    boolean isUpgradedBy(ResponseHead head) {
        AsciiString protocol = request == null ? null : request.protocol();
        Fields fields = head.fields();
        return protocol != null
                && UpgradeRequest.isUpgrade(fields)
                && isOnly(fields, FieldName.UPGRADE, protocol, true)
                && (key == null || isOnly(fields, FieldName.SEC_WEBSOCKET_ACCEPT, WebSocketKey.accept(key), false));
    }

    private static boolean isOnly(Fields fields, FieldName name, AsciiString value, boolean ignoreCase) {
        int at = fields.find(name, 0);
        return at >= 0
                && fields.find(name, at + 1) < 0
                && (ignoreCase
                        ? fields.value(at).contentEqualsIgnoreCase(value)
                        : fields.value(at).contentEquals(value));
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
        early.add(data);
        earlyLast |= last;
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
        if (held != null) {
            held.forEach(ByteBuf::release);
        }
    }

    @Override
    void onMisframed(Failure failure) {
        carrier().fail(this, failure);
    }
}
