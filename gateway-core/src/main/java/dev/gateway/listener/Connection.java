package dev.gateway.listener;

import dev.gateway.listener.limit.Admission;
import dev.gateway.message.RequestHead;
import dev.gateway.net.ByteCounter;
import dev.gateway.net.Drainable;
import dev.gateway.net.ProxyProtocol;
import dev.gateway.net.tls.HandshakeCallback;
import dev.gateway.net.tls.HandshakeFailures;
import dev.gateway.net.tls.ServerTls;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Resource;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.ClientMemory;
import dev.gateway.overload.memory.Cost;
import dev.gateway.protocol.http1.Http1ServerConnection;
import dev.gateway.protocol.http2.Http2ServerConnection;
import dev.gateway.protocol.http2.Http2ServerSettings;
import dev.gateway.protocol.tcp.TcpServerConnection;
import dev.gateway.protocol.tcp.TcpServerSettings;
import dev.gateway.stream.ClientChain;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.SourceAddress;
import dev.gateway.time.Timer;
import io.netty.channel.Channel;
import io.netty.handler.ssl.NotSslRecordException;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An accepted connection, from its first byte: finds the client's address (PROXY protocol), does the TLS handshake, and
 * detects the protocol, whose handler then has the channel for itself. Made by {@link ConnectionInitializer}, confined to
 * the channel's event loop, ends when the channel closes.
 */
final class Connection
        implements Drainable, LoopGate.Guest, Admission.Candidate, ProxyProtocol.Callback, HandshakeCallback {
    private static final Logger log = LoggerFactory.getLogger(Connection.class);

    /** Numbers connections for the admin listener, in the order in which they were accepted. */
    private static final AtomicLong NUMBERS = new AtomicLong();

    /** How long a client that has just connected may take for its first byte when the listener drains. */
    private static final long FIRST_BYTE_MILLIS = 1000;

    /** A connection with traffic within this time does not make room for others. */
    private static final long RECENT_NANOS = 2_000_000_000L;

    /** The same where no room is left, and the connection has had a request: its client may ask again at once. */
    private static final long JUST_NOW_NANOS = 100_000_000L;

    private final LoopConnections connections; // of its listener on its event loop
    private final ListenerLoop loop;
    private final ListenerSettingsRef settingsRef; // the settings when it was accepted, which it keeps
    private final Channel channel;
    private final SourceAddress peer;
    private final ClientNetwork network;
    private final ByteCounter bytes;
    private final Account account;
    private long fixed = Cost.CONNECTION; // the charge for the connection itself
    private final long number = NUMBERS.incrementAndGet();
    private ClientNetwork counted = ClientNetwork.NONE; // the client that it counts for
    private ClientNetwork sharing = ClientNetwork.NONE; // the client whose share of the listener it uses
    private SourceAddress client; // the peer, until the PROXY protocol names another address
    private @Nullable InetSocketAddress local;
    private @Nullable TlsInfo tls;
    private @Nullable CertificateEnd certificateEnd; // null if the client has presented no certificate
    private @Nullable Drainable protocol; // or its detector; null during TLS and the PROXY protocol
    private @Nullable HttpVersion version; // null until it is known

    /** Closes a draining connection on which the client has sent nothing. */
    private final Timer silenceTimer = new Timer() {
        @Override
        protected void onExpired() {
            if (protocol == null && bytes.received() == 0) {
                channel.close();
            }
        }
    };

    Connection(
            Channel channel,
            LoopConnections connections,
            ListenerSettingsRef settingsRef,
            ByteCounter bytes,
            Account account) {
        this.channel = channel;
        this.bytes = bytes;
        this.account = account;
        this.connections = connections;
        this.loop = connections.loop();
        this.settingsRef = settingsRef;
        this.peer = SourceAddress.of(channel.remoteAddress());
        this.client = peer;
        this.network = settings().limits().maxConnectionsPerAddress() == 0 ? ClientNetwork.NONE : peer.network();
    }

    @Override
    public ClientNetwork network() {
        return network;
    }

    ListenerSettings settings() {
        return settingsRef.settings;
    }

    /** Begins. The following callbacks add one handler after the other to the channel's pipeline. */
    void start() {
        ProxyProtocol proxyProtocol = settings().proxyProtocol();
        if (proxyProtocol != null) {
            proxyProtocol.expect(channel.pipeline(), this);
        } else {
            local = channel.localAddress() instanceof InetSocketAddress inet ? inet : null;
            begin();
        }
    }

    @Override
    public void onAddresses(
            Channel channel, @Nullable InetSocketAddress clientAddress, @Nullable InetSocketAddress localAddress) {
        if (clientAddress == null || !clientAddress.equals(channel.remoteAddress())) {
            client = SourceAddress.of(clientAddress);
        }
        local = localAddress;
        begin();
    }

    /** Logs that the listener, or the address of the client, has too many connections. */
    void tellTooMany(boolean full) {
        if (full) {
            connections.refusals().onFull(settings().name(), channel.remoteAddress());
        } else {
            connections.refusals().onTooManyOfAddress(settings().name(), channel.remoteAddress());
        }
    }

    private void begin() {
        ClientNetwork admitted = connections.admit(client, settings());
        if (admitted == null) {
            channel.close();
            return;
        }
        counted = admitted;
        ClientNetwork found = settings().limits().clients().sharing(client);
        if (!found.equals(ClientNetwork.NONE) && !admitSharing(found)) {
            channel.close();
            return;
        }
        ServerTls serverTls = settings().tls();
        TcpServerSettings bytes = settings().protocols().bytes();
        if (bytes != null) {
            passOn(bytes);
        } else if (serverTls != null) {
            serverTls.secure(channel.pipeline(), this);
        } else if (settings().protocols().http2() != null) {
            PrefaceDetector detector = new PrefaceDetector(this, loop, settings());
            channel.pipeline().addLast(detector);
            start(detector);
        } else {
            speakHttp1();
        }
    }

    private boolean admitSharing(ClientNetwork found) {
        if (!connections.tryShare(this, found)) {
            loop.observer().onConnectionRefused();
            connections.refusals().onMoreThanShare(settings().name(), client);
            return false;
        }
        sharing = found;
        if (!loop.gate().admitClient(account, found)) {
            loop.observer().onConnectionShed();
            connections.refusals().onShareUsedUp(settings().name(), client);
            return false;
        }
        return true;
    }

    /** Returns the client whose share of the listener's connections it uses, {@link ClientNetwork#NONE} for none. */
    ClientNetwork sharing() {
        return sharing;
    }

    /** Returns the client that it counts for, {@link ClientNetwork#NONE} if it counts for no client. */
    ClientNetwork counted() {
        return counted;
    }

    @Override
    public void onRefused(Channel channel, String detail) {
        loop.observer().onViolation("proxy_protocol");
        log.debug("{}: refused {}: {}", settings().name(), channel.remoteAddress(), detail);
    }

    @Override
    public Account account() {
        return account;
    }

    @Override
    public void onSecured(Channel channel, @Nullable String alpn, TlsInfo info) {
        tls = info;
        if ("h2".equals(alpn)) {
            speakHttp2();
        } else {
            speakHttp1(); // also without ALPN: such clients speak nothing else
        }
        // The first write may have closed the channel, and then nobody would cancel the timer.
        if (info.clientUntilMillis() != TlsInfo.NEVER && channel.isOpen()) {
            certificateEnd = new CertificateEnd(this, loop.timers(), info.clientUntilMillis());
            certificateEnd.begin();
        }
    }

    @Override
    public void onHandshakeFailed(Channel channel, Throwable failure) {
        HandshakeFailure reason = HandshakeFailures.of(failure);
        loop.observer().onHandshakeFailed(reason);
        if (reason == HandshakeFailure.CLEARTEXT) {
            log.debug(
                    "{}: TLS handshake with {} failed: {}",
                    settings().name(),
                    peer,
                    RefusalLog.describe(reason, failure));
        } else {
            log.debug("{}: TLS handshake with {} failed", settings().name(), peer, failure);
        }
        if (reason != HandshakeFailure.CLOSED || bytes.received() > 0) { // else it was a check for an open port
            connections.refusals().onHandshakeFailed(settings().name(), reason, channel.remoteAddress(), failure);
        }
        if (failure instanceof NotSslRecordException) {
            CleartextReply.send(channel, loop.observer());
        }
    }

    /** Adds the handler of HTTP/1. */
    void speakHttp1() {
        ListenerSettings.Protocols protocols = settings().protocols();
        boolean mayUpgrade = protocols.h2cUpgrade() && tls == null && protocols.http2() != null && isOfOneClient();
        Http1ServerConnection http1 = new Http1ServerConnection(
                info(HttpVersion.HTTP_1_1),
                requestHandler(),
                loop.observer(),
                loop.timers(),
                protocols.http1(),
                mayUpgrade ? new H2cUpgrade(this::upgradeToHttp2, loop.observer()) : null);
        count(HttpVersion.HTTP_1_1);
        channel.pipeline().addLast(http1);
        start(http1);
    }

    /**
     * Whether the peer is the client itself. A proxy may hand on {@code Upgrade: h2c}; the client would then send requests that
     * the proxy does not see, in the proxy's name.
     */
    private boolean isOfOneClient() {
        ProxyProtocol proxyProtocol = settings().proxyProtocol();
        return !settings().limits().clients().isShared(peer)
                && (proxyProtocol == null || !proxyProtocol.isSender(channel.remoteAddress()));
    }

    private void upgradeToHttp2(RequestHead head, byte[] payload) {
        speakHttp2().upgrade(head, payload);
    }

    /** Adds the handler of HTTP/2, which sends its preface. */
    Http2ServerConnection speakHttp2() {
        Http2ServerSettings settings = settings().protocols().http2();
        if (settings == null) {
            throw new IllegalStateException(settings().name() + " does not speak HTTP/2, but offered it");
        }
        account.charge(Cost.HTTP2);
        fixed += Cost.HTTP2;
        Http2ServerConnection http2 = Http2ServerConnection.create(
                info(HttpVersion.HTTP_2), requestHandler(), loop.observer(), loop.timers(), settings);
        count(HttpVersion.HTTP_2);
        channel.pipeline().addLast(http2);
        start(http2);
        return http2;
    }

    /** Adds the handler that relays bytes without reading a protocol. */
    private void passOn(TcpServerSettings settings) {
        TcpServerConnection tcp = new TcpServerConnection(
                info(HttpVersion.TCP), requestHandler(), loop.observer(), loop.timers(), settings);
        count(HttpVersion.TCP);
        channel.pipeline().addLast(tcp);
        start(tcp);
    }

    private RequestHandler requestHandler() {
        RequestHandler handler = loop.handler();
        return settings().limits().maxConnectionsPerAddress() == 0
                ? handler
                : new FirstRequest(handler, () -> connections.onRequest(this));
    }

    private void start(Drainable next) {
        protocol = next;
        if (connections.isDraining()) {
            next.drain();
        } else if (connections.isCloseAnnounced()) {
            next.announceClose();
        }
    }

    /** Counts the connection once, by its first protocol: an upgrade does not change the count. */
    private void count(HttpVersion version) {
        if (this.version == null) {
            this.version = version;
            boolean secure = tls != null;
            ConnectionObserver observer = loop.observer();
            observer.onOpened(version, secure);
            channel.closeFuture().addListener(closed -> observer.onClosed(version, secure));
        }
    }

    private ConnectionInfo info(HttpVersion version) {
        return new ConnectionInfo(settings().index(), settings().name(), version, peer, client, local, tls, account);
    }

    boolean isDraining() {
        return connections.isDraining();
    }

    @Override
    public void announceClose() {
        if (protocol != null) {
            protocol.announceClose();
        }
    }

    /** Returns its state, for the admin listener. */
    OpenConnection view(long now) {
        return new OpenConnection(
                number,
                settings().name(),
                version == null ? "" : version.text().toString(),
                client.toString(),
                peer.toString(),
                tls,
                connections.isDraining(),
                new OpenConnection.Traffic(
                        now - bytes.openedNanos(), now - bytes.movedNanos(), bytes.received(), bytes.sent()));
    }

    @Override
    public boolean isIdle() {
        return protocol == null ? bytes.received() == 0 : protocol.isIdle();
    }

    @Override
    public boolean hasServed() {
        return protocol != null && protocol.hasServed();
    }

    @Override
    public boolean isRefused() {
        return protocol != null && protocol.isRefused();
    }

    @Override
    public @Nullable ClientMemory client() {
        return account.client();
    }

    @Override
    public boolean giveWay(Resource because, boolean urgent) {
        long unused = loop.timers().nanoTime() - bytes.movedNanos();
        boolean recent = unused < (urgent && hasServed() ? JUST_NOW_NANOS : RECENT_NANOS);
        if (!isRefused() && (recent || !isIdle())) {
            return false;
        }
        connections.onGivenWay(because);
        channel.close();
        return true;
    }

    @Override
    public void closeSoon() {
        loop.eventLoop().execute(channel::close);
    }

    /** The connection was admitted. */
    void admitted() {
        settingsRef.begin();
    }

    /** The channel is closed. Exchanges release their memory when they end, which may be a moment later. */
    void release() {
        settingsRef.end();
        ClientChain chain = tls == null ? null : tls.clientChain();
        account.release(fixed + (chain == null ? 0 : chain.charged()));
        account.leave();
        if (certificateEnd != null) {
            certificateEnd.cancel();
        }
    }

    long number() {
        return number;
    }

    /** Drains the protocol's handler. Without one yet, {@link #start(Drainable)} drains it when it is added. */
    @Override
    public void drain() {
        if (protocol != null) {
            protocol.drain();
        } else {
            loop.timers().arm(silenceTimer, FIRST_BYTE_MILLIS);
        }
    }

    @Override
    public void end(Failure failure) {
        if (protocol != null) {
            protocol.end(failure);
        } else {
            channel.close();
        }
    }
}
