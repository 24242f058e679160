package dev.gateway.upstream.pool;

import dev.gateway.stream.DialedPeer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.dial.AddressPolicy;
import dev.gateway.upstream.dial.ParentProxies;
import dev.gateway.upstream.dial.ParentProxy;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.channel.Channel;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The target of a dial: an endpoint, and the parent proxy on the way to it.
 *
 * @param endpoint the destination, also if a parent connects to it
 * @param parent the proxy to connect to, null to connect to the endpoint directly
 * @param name what TLS asks for and verifies instead of the endpoint's name, because a request says so; or null
 * @param forwards whether the parent gets requests with a whole URI and forwards them, instead of a tunnel
 */
record DialTarget(Endpoint endpoint, @Nullable String name, @Nullable ParentProxy parent, boolean forwards) {
    static final String UNIX = "unix:";

    /** Returns the target for an endpoint that the upstream has. */
    static DialTarget straight(Endpoint endpoint) {
        return new DialTarget(endpoint, null, null, false);
    }

    /** Returns the target for an endpoint that the upstream has, and for requests to this name. */
    static DialTarget named(Endpoint endpoint, String name) {
        return new DialTarget(endpoint, name, null, false);
    }

    /** Whether a client has chosen the name that TLS asks for. */
    boolean isNamed() {
        return name != null;
    }

    /** Returns the target for an endpoint that a request names. */
    static DialTarget to(Endpoint endpoint, StreamKind kind, ParentProxies parents) {
        ParentProxy parent = parents.parentOf(endpoint.host(), endpoint.port());
        return new DialTarget(endpoint, null, parent, parent != null && parent.isHttp() && kind != StreamKind.TUNNEL);
    }

    /** Whether the parent must connect to the endpoint before the connection is usable. */
    boolean isThrough() {
        return parent != null && !forwards;
    }

    /** Whether the connection to the parent uses TLS. */
    boolean isSecured() {
        return parent != null && parent.tls() != null;
    }

    /** Whether the gateway connects to a host that a client has named. */
    boolean isRequested() {
        return parent == null && endpoint.index() == Endpoint.NAMED_INDEX;
    }

    /** Whether a client has chosen the destination. */
    boolean isChosenByClient() {
        return endpoint.index() == Endpoint.NAMED_INDEX;
    }

    /** Whether the gateway connects to a Unix-domain socket. */
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
        if (name != null) {
            return name;
        }
        return isSocketFile() ? "localhost" : parent == null ? endpoint.name() : parent.host();
    }

    int port() {
        return parent == null ? endpoint.port() : parent.port();
    }

    /**
     * Returns the peer of an established connection.
     *
     * @param policy knows where this gateway listens, null if nobody does
     */
    DialedPeer peer(Channel established, @Nullable AddressPolicy policy) {
        SocketAddress remote = established.remoteAddress();
        return new DialedPeer(
                remote instanceof InetSocketAddress tcp ? NetUtil.toSocketAddressString(tcp) : "",
                parent == null ? "" : parent.toString(),
                parent == null && policy != null && isOwn(remote, policy));
    }

    private boolean isOwn(SocketAddress remote, AddressPolicy policy) {
        if (isSocketFile()) {
            return policy.isOwn(socketFile());
        }
        return remote instanceof InetSocketAddress tcp && policy.isOwn(tcp.getAddress(), tcp.getPort());
    }

    /** Returns the endpoint or the parent, as logs name it. */
    @Override
    public String toString() {
        return parent == null ? endpoint.toString() : "parent " + parent;
    }
}
