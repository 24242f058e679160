package dev.gateway.pool;

import dev.gateway.stream.DialedPeer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.NamedByRequest;
import dev.gateway.upstream.ParentProxies;
import dev.gateway.upstream.ParentProxy;
import dev.gateway.upstream.StreamKind;
import io.netty.channel.Channel;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The target of a dial: an endpoint, and the parent proxy on the way to it.
 *
 * @param endpoint who is at the end of them, also if that is the parent's to find
 * @param parent the proxy that is dialed, null for nobody
 * @param forwards whether requests on the connections are the parent's to forward, instead of bytes
 */
record DialTarget(Endpoint endpoint, @Nullable ParentProxy parent, boolean forwards) {
    private static final String UNIX = "unix:";

    /** Returns the target for an endpoint that is one of its upstream's own. */
    static DialTarget straight(Endpoint endpoint) {
        return new DialTarget(endpoint, null, false);
    }

    /** Returns the target for an endpoint that a request names. */
    static DialTarget to(Endpoint endpoint, StreamKind kind, ParentProxies parents) {
        ParentProxy parent = parents.parentOf(endpoint.host(), endpoint.port());
        return new DialTarget(endpoint, parent, parent != null && parent.isHttp() && kind != StreamKind.TUNNEL);
    }

    /** Whether the parent has to connect on before the connection is usable. */
    boolean isThrough() {
        return parent != null && !forwards;
    }

    /** Whether the parent is dialed by TLS. */
    boolean isSecured() {
        return parent != null && parent.tls() != null;
    }

    /** Whether a client has named the host that is dialed. */
    boolean isRequested() {
        return parent == null && endpoint.index() == NamedByRequest.INDEX;
    }

    /** Whether what is dialed is a socket file. */
    boolean isSocketFile() {
        return host().startsWith(UNIX);
    }

    Path socketFile() {
        return Path.of(host().substring(UNIX.length()));
    }

    String host() {
        return parent == null ? endpoint.host() : parent.host();
    }

    /** Returns the name that TLS verifies. */
    String serverName() {
        return isSocketFile() ? "localhost" : parent == null ? endpoint.name() : parent.host();
    }

    int port() {
        return parent == null ? endpoint.port() : parent.port();
    }

    /** Returns what a connection was made to. */
    DialedPeer peer(Channel established) {
        SocketAddress remote = established.remoteAddress();
        return new DialedPeer(
                remote instanceof InetSocketAddress tcp ? NetUtil.toSocketAddressString(tcp) : "",
                parent == null ? "" : parent.toString());
    }

    /** Returns who is dialed, as logs name it. */
    @Override
    public String toString() {
        return parent == null ? endpoint.toString() : "parent " + parent;
    }
}
