package dev.gateway.listener;

import dev.gateway.listener.limit.FairShares;
import dev.gateway.net.ProxyProtocol;
import dev.gateway.net.tls.ServerTls;
import dev.gateway.protocol.http1.Http1ServerSettings;
import dev.gateway.protocol.http2.Http2ServerSettings;
import dev.gateway.protocol.tcp.TcpServerSettings;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.SourceAddress;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a listener binds and how it treats connections.
 *
 * @param index the {@code listener} of its connections, the same in all generations; negative for the admin listener
 * @param bound the address to bind: port 0 for any free one; the file of a Unix-domain socket is made at the start and
 *     removed at the end
 * @param sharing which other processes may listen there, if the platform supports it
 * @param limits limits of connections
 * @param tls null for cleartext
 * @param proxyProtocol null if connections do not begin with the PROXY protocol
 * @param protocols the protocols of connections
 */
public record ListenerSettings(
        int index,
        String name,
        SocketAddress bound,
        Sharing sharing,
        Limits limits,
        @Nullable ServerTls tls,
        @Nullable ProxyProtocol proxyProtocol,
        Protocols protocols) {
    /** Returns the same settings with another TLS. */
    public ListenerSettings with(ServerTls other) {
        return new ListenerSettings(index, name, bound, sharing, limits, other, proxyProtocol, protocols);
    }

    /** Whether it is for operators of the gateway, and so has file descriptors of its own. */
    boolean isAdmin() {
        return index < 0;
    }

    /**
     * Limits of open connections.
     *
     * @param maxConnections the maximum number, 0 for no limit; the gateway closes more at once
     * @param maxConnectionsPerAddress 0 for no limit. Otherwise {@link FairShares} applies: a connection beyond this or
     *     {@code maxConnections} may replace an older one
     * @param clients limits for each client, and of the rate of connections
     */
    public record Limits(int maxConnections, int maxConnectionsPerAddress, Clients clients) {
        /** Makes limits without limits for single clients. */
        public Limits(int maxConnections, int maxConnectionsPerAddress) {
            this(maxConnections, maxConnectionsPerAddress, Clients.UNLIMITED);
        }
    }

    /**
     * Limits for single clients, and of the rate of connections.
     *
     * @param access who may connect
     * @param maxConnections open connections of one client, 0 for no limit; the gateway closes more at once
     * @param proxies addresses without this limit, since they connect for many clients
     * @param maxAcceptRate accepted connections in a second, 0 for no limit; more wait in the kernel
     */
    public record Clients(Access access, int maxConnections, Predicate<InetAddress> proxies, int maxAcceptRate) {
        static final Clients UNLIMITED = new Clients(Access.ANYONE, 0, ip -> false, 0);

        /** Whether a connection is of nobody alone: of a trusted proxy, or of a process that has no address. */
        boolean isShared(SourceAddress client) {
            InetAddress ip = client.ip();
            return ip == null || proxies.test(ip);
        }

        /** Returns the client whose share of the memory a connection uses, {@link ClientNetwork#NONE} if there is no share. */
        ClientNetwork sharing(SourceAddress client) {
            return isShared(client) ? ClientNetwork.NONE : client.network();
        }

        /** Returns the client that a connection counts for, {@link ClientNetwork#NONE} if it counts for no client. */
        ClientNetwork counted(SourceAddress client) {
            return maxConnections == 0 || isShared(client) ? ClientNetwork.NONE : client.network();
        }
    }

    /** Decides who may connect, by address. Safe from any event loop. */
    @FunctionalInterface
    public interface Access {
        /** Lets everybody connect. */
        Access ANYONE = ip -> null;

        /**
         * Returns why a client may not connect, as what follows its address in a sentence; null if it may.
         *
         * @param client null if it has no address
         */
        @Nullable
        String refusal(@Nullable InetAddress client);
    }

    /** Whether other processes may listen at a listener's address. */
    public enum Sharing {
        /** No other process may. */
        NONE,
        /**
         * Other processes may, with {@code SO_REUSEPORT}. Each event loop has a socket; the kernel distributes connections.
         */
        SPREAD,
        /** Other processes may. The one that has started last gets all connections. */
        LAST_GETS_ALL
    }

    /**
     * The protocols of a listener.
     *
     * @param http2 null for HTTP/1.1 only
     * @param h2cUpgrade whether to accept {@code Upgrade: h2c} in cleartext, besides prior knowledge
     * @param bytes null for HTTP. Otherwise the listener relays bytes, and the other settings have no meaning
     */
    public record Protocols(
            Http1ServerSettings http1,
            @Nullable Http2ServerSettings http2,
            boolean h2cUpgrade,
            @Nullable TcpServerSettings bytes) {
        /** Makes the protocols of a listener for requests. */
        public Protocols(Http1ServerSettings http1, @Nullable Http2ServerSettings http2, boolean h2cUpgrade) {
            this(http1, http2, h2cUpgrade, null);
        }
    }
}
