package dev.gateway.protocol.http1;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.memory.Account;
import dev.gateway.protocol.http1.HeadWriter.Persistence;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.LoginPins;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** One request of a downstream HTTP/1 connection: frames its response. Made by, and part of, its connection. */
final class Http1ServerStream extends OutgoingStream<Http1ServerConnection> implements ServerStream {
    private static final int CONTINUE = 100;
    private static final int SWITCHING_PROTOCOLS = 101;

    private final ConnectionInfo connection;
    private final @Nullable RequestHead request;
    private final @Nullable AsciiString key; // of a WebSocket handshake
    private final boolean http10;
    private Account account;
    private boolean keepAlive;
    private boolean awaitsContinue;
    private boolean tunnel;
    private @Nullable StreamEvents events;

    /**
     * Makes a stream.
     *
     * @param request null if none could be made out
     * @param key the client's for a WebSocket handshake, or null
     * @param keepAlive whether the client lets the connection persist
     */
    Http1ServerStream(
            Http1ServerConnection carrier,
            @Nullable RequestHead request,
            @Nullable AsciiString key,
            boolean http10,
            boolean keepAlive) {
        super(carrier, carrier.ctx.channel());
        this.connection = carrier.info();
        this.account = connection.account();
        this.request = request;
        this.key = key;
        this.http10 = http10;
        this.keepAlive = keepAlive;
    }

    @Override
    public LoginPins logins() {
        return carrier().logins();
    }

    @Override
    public long headNanos() {
        return carrier().headNanos();
    }

    /** The client holds its body back until it is told to send it (RFC 9110, section 10.1.1). */
    void awaitContinue() {
        awaitsContinue = true;
    }

    /** The client sends its body, told or not. */
    void onBodyBegun() {
        awaitsContinue = false;
    }

    /** Whether the client still waits to be told to send its body, so that it may never come. */
    boolean isAwaitingContinue() {
        return awaitsContinue;
    }

    boolean isKeepAlive() {
        return keepAlive;
    }

    /** Whether a successful response opens a tunnel; the core may have refused an upgrade since the request came. */
    boolean isConnect() {
        return request != null && request.isConnect();
    }

    /** Whether a response may open a tunnel, also one that is only wished for. */
    boolean mayBecomeTunnel() {
        return request != null && (request.isConnect() || request.wish() != null);
    }

    boolean isTunnel() {
        return tunnel;
    }

    @Nullable
    StreamEvents events() {
        return events;
    }

    void setEvents(@Nullable StreamEvents events) {
        this.events = events;
    }

    /** Reports the reset to the receiver of events; no event follows. */
    void tellReset(Failure failure) {
        StreamEvents told = events;
        events = null;
        if (told != null) {
            told.onReset(failure);
        }
    }

    @Override
    public ConnectionInfo connection() {
        return connection;
    }

    @Override
    public void head(ResponseHead head, boolean last) {
        if (isEnded() || isStarted()) {
            return;
        }
        if (head.isInterim()) {
            interim(head);
            return;
        }
        int status = head.status();
        if (isConnect() && status < 300) {
            openTunnel(head, last);
            return;
        }
        long length = head.contentLength();
        Framing framing;
        boolean bodiless = request != null && request.method().equals(Method.HEAD);
        if (bodiless || status == 204 || status == 304) {
            framing = Framing.NONE;
            length = status == 204 ? RequestHead.UNKNOWN_LENGTH : length;
        } else if (last) {
            framing = Framing.FIXED;
            length = 0;
        } else if (length >= 0) {
            framing = Framing.FIXED;
        } else {
            framing = http10 ? Framing.UNTIL_CLOSE : Framing.CHUNKED;
        }
        keepAlive = keepAlive
                && framing != Framing.UNTIL_CLOSE
                && !awaitsContinue
                && carrier().mayPersist(status, last || framing == Framing.NONE);
        boolean told = http10 || (request != null && request.isAbsoluteForm()); // other proxies may want to hear it
        Persistence persistence = !keepAlive ? Persistence.CLOSE : told ? Persistence.KEEP_ALIVE : Persistence.DEFAULT;
        begin(framing, length);
        carrier().writeHead(head, framing, length, persistence);
        if (last) {
            finish();
        }
    }

    /** What the kernel does not take at once is direct memory, wherever it was before. */
    @Override
    public boolean hasRoomFor(ByteBuf body) {
        return account.waitingBodies().hasRoom(body.readableBytes());
    }

    @Override
    public void countFor(Account client) {
        account = client;
        carrier().countFor(client);
    }

    @Override
    public void delayNextRequest(Pause pause) {
        carrier().delayAfter(this, pause);
    }

    @Override
    public boolean announceClose() {
        return carrier().tellClose();
    }

    private void openTunnel(ResponseHead head, boolean last) {
        AsciiString protocol = request == null ? null : request.protocol();
        tunnel = true;
        begin(Framing.UNTIL_CLOSE, 0);
        if (protocol == null) {
            carrier().writeHead(head, Framing.NONE, -1, Persistence.DEFAULT);
        } else {
            Fields fields = head.fields();
            fields.set(FieldName.UPGRADE, protocol);
            fields.remove(FieldName.SEC_WEBSOCKET_ACCEPT);
            if (key != null && protocol.contentEqualsIgnoreCase(UpgradeRequest.WEBSOCKET)) {
                fields.add(FieldName.SEC_WEBSOCKET_ACCEPT, WebSocketKey.accept(key));
            }
            ResponseHead switching = new ResponseHead(SWITCHING_PROTOCOLS, null, fields, -1);
            carrier().writeHead(switching, Framing.NONE, -1, Persistence.DEFAULT);
        }
        if (last) {
            finish();
        }
        carrier().becomeTunnel(this);
    }

    private void interim(ResponseHead head) {
        if (http10 || head.status() == SWITCHING_PROTOCOLS) {
            return; // RFC 9110, section 15.2; an upgrade is a matter of this hop alone
        }
        if (head.status() == CONTINUE) {
            awaitsContinue = false;
            carrier().onContinueSent();
        }
        carrier().writeHead(head, Framing.NONE, -1, Persistence.DEFAULT);
    }

    @Override
    void onMisframed(Failure failure) {
        StreamEvents told = events;
        reset(failure);
        if (told != null) {
            told.onReset(failure);
        }
    }
}
