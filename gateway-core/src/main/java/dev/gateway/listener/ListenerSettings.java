package dev.gateway.listener;

import dev.gateway.http1.Http1ServerSettings;
import dev.gateway.http2.Http2ServerSettings;
import dev.gateway.net.ProxyProtocol;
import dev.gateway.net.tls.ServerTls;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.SourceAddress;
import dev.gateway.tcp.TcpServerSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a listener binds and how it treats connections.
 *
 * @param index the {@code listener} of its connections, the same in all generations; negative for the admin listener
 * @param bound where
 * @param sharing who else may listen there, where the platform can
 * @param limits how many connections there may be at once
 * @param tls null for cleartext
 * @param proxyProtocol null if connections begin with what their client sends
 * @param protocols what is spoken
 */
public record ListenerSettings(
        int index,
        String name,
        Address bound,
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
     * How many connections there may be at once.
     *
     * @param maxConnections 0 for no limit; more are closed at once
     * @param maxConnectionsPerAddress 0 for no limit, else beyond it and beyond {@code maxConnections} a connection may have
     *     an older one closed, see {@link FairShares}
     * @param clients what a single client may have, and all of them in a second
     */
    public record Limits(int maxConnections, int maxConnectionsPerAddress, Clients clients) {
        /** Makes limits that are the same whoever the clients are. */
        public Limits(int maxConnections, int maxConnectionsPerAddress) {
            this(maxConnections, maxConnectionsPerAddress, Clients.UNLIMITED);
        }
    }

    /**
     * How many connections one client may have, and how many may come in a second.
     *
     * @param maxConnections of one client at once, 0 for no limit; more are closed at once
     * @param proxies who may have more, since their clients are others
     * @param maxAcceptRate how many are accepted in a second, 0 for no limit; more wait in the kernel
     */
    public record Clients(int maxConnections, Predicate<InetAddress> proxies, int maxAcceptRate) {
        static final Clients UNLIMITED = new Clients(0, ip -> false, 0);

        /** Returns whom a connection counts for, {@link ClientNetwork#NONE} if for nobody. */
        ClientNetwork counted(SourceAddress client) {
            InetAddress ip = client.ip();
            return maxConnections == 0 || ip == null || proxies.test(ip) ? ClientNetwork.NONE : client.network();
        }
    }

    /** Who else may listen at a listener's address. */
    public enum Sharing {
        /** Nobody. */
        NONE,
        /** Other processes, with {@code SO_REUSEPORT}, and each event loop for itself; the kernel spreads connections. */
        SPREAD,
        /** Other processes; the one that has come last gets all connections. */
        LAST_GETS_ALL
    }

    /** Where a listener is bound; written as people write it. */
    public sealed interface Address {
        /** A TCP address; port 0 for any free one. */
        record Tcp(InetSocketAddress address) implements Address {
            @Override
            public String toString() {
                return address.getHostString() + ":" + address.getPort();
            }
        }

        /** A socket file, which is made at the start and removed at the end. */
        record Unix(Path path) implements Address {
            @Override
            public String toString() {
                return path.toString();
            }
        }
    }

    /**
     * What is spoken on a listener.
     *
     * @param http2 null if HTTP/1.1 is all
     * @param h2cUpgrade whether {@code Upgrade: h2c} is accepted in cleartext besides prior knowledge
     * @param bytes not null if nothing is: bytes are passed on, and the rest is without meaning
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
