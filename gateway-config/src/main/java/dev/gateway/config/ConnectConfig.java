package dev.gateway.config;

import dev.gateway.config.route.RouteConfig.ParentRef;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.Position;
import dev.gateway.format.PortRange;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * CONNECT and forward proxy policy. Who may reach what through some listeners: by CONNECT, and by requests for {@code
 * http://} URLs of other hosts.
 *
 * @param name unique, also among routes; {@code connect-N} if none was written
 * @param parentRefs the listeners it applies to, at least one, all of them HTTP or HTTPS
 * @param auth null if nobody is asked who they are
 * @param parents parent proxies; the gateway dials the first whose hosts match, or else the destination itself
 */
public record ConnectConfig(
        Position position,
        String name,
        List<ParentRef> parentRefs,
        @Nullable Auth auth,
        Rules rules,
        List<Parent> parents,
        Timeouts timeouts,
        @Nullable Pac pac) {

    public ConnectConfig {
        parentRefs = List.copyOf(parentRefs);
        parents = List.copyOf(parents);
    }

    /**
     * Who may reach what, and how much of it.
     *
     * @param access what those may reach whom no policy names
     * @param policies the first that names a client's identity or one of its groups replaces access
     * @param limits for all clients together, and for each
     * @param audit whether what is refused is only logged, and let through; denyPrivate holds all the same
     */
    public record Rules(Access access, List<Policy> policies, Limits limits, Addresses addresses, boolean audit) {
        public Rules {
            policies = List.copyOf(policies);
        }
    }

    /**
     * Which addresses may be dialed, whatever name leads there.
     *
     * @param denyPrivate whether addresses that are not public are refused
     * @param trustedDestinations exempt from denyPrivate; never {@link Destination.Any}. A {@link
     *     Destination.HostAndPort} may be a listener of the gateway
     */
    public record Addresses(boolean denyPrivate, List<Destination> trustedDestinations) {
        public Addresses {
            trustedDestinations = List.copyOf(trustedDestinations);
        }
    }

    /**
     * What may be reached.
     *
     * @param allow hosts, nothing if empty
     * @param deny hosts that are refused even though allow has them
     */
    public record Access(List<PortRange> allowedPorts, List<Destination> allow, List<Destination> deny, Sni sni) {
        public Access {
            allowedPorts = List.copyOf(allowedPorts);
            allow = List.copyOf(allow);
            deny = List.copyOf(deny);
        }
    }

    /** What becomes of a tunnel whose TLS client asks for another host than its CONNECT did. */
    public enum Sni {
        OFF,
        LOG,
        /** It is refused, and so is what is not TLS. */
        MUST_MATCH
    }

    /**
     * How clients tell who they are; at least one way.
     *
     * @param usersFile htpasswd lines for Basic, or null
     * @param tokensFile identities and their tokens for Bearer, or null
     * @param groupsFile lines of a group, a colon and its members, or null
     * @param clientCertificate whether the common name of a verified client certificate is an identity
     */
    public record Auth(
            Position position,
            String realm,
            @Nullable Path usersFile,
            @Nullable Path tokensFile,
            @Nullable Path groupsFile,
            boolean clientCertificate) {}

    /**
     * What some identities may reach, complete: what was not written is the entry's.
     *
     * @param identities by name; not empty if groups is
     */
    public record Policy(
            Position position, List<String> identities, List<String> groups, Access access, PolicyLimits limits) {
        public Policy {
            identities = List.copyOf(identities);
            groups = List.copyOf(groups);
        }
    }

    /**
     * How many tunnels all that a policy names may have open at once, besides the limits of the entry.
     *
     * @param maxTunnels 0 for no limit
     */
    public record PolicyLimits(Position position, int maxTunnels) {}

    /**
     * How many tunnels may be open at once, 0 for no limit.
     *
     * @param maxTunnelsPerClient for one address
     */
    public record Limits(Position position, int maxTunnels, int maxTunnelsPerClient, int maxTunnelsPerIdentity) {}

    /**
     * What is dialed for some hosts.
     *
     * @param hosts at least one
     * @param proxy null for the host itself
     */
    public record Parent(Position position, List<Destination> hosts, @Nullable Proxy proxy) {
        public Parent {
            hosts = List.copyOf(hosts);
        }
    }

    /**
     * Another proxy.
     *
     * @param host a name, or an IPv4 or IPv6 literal without brackets
     * @param credentialsFile one line of a name, a colon and a password, or null
     * @param tls how an HTTPS proxy is verified, null for the usual way
     */
    public record Proxy(
            Kind kind, String host, int port, @Nullable Path credentialsFile, UpstreamConfig.@Nullable Tls tls) {
        /** What a proxy speaks. */
        public enum Kind {
            HTTP,
            /** HTTP over TLS. */
            HTTPS,
            SOCKS5
        }
    }

    /**
     * Time limits, zero for none.
     *
     * @param connect of dialing, and of what a parent takes to agree; name resolution not included
     */
    public record Timeouts(Position position, Duration connect, TunnelTimeouts tunnel) {}

    /**
     * Serves a proxy auto-configuration file.
     *
     * @param path begins with a slash
     */
    public record Pac(Position position, String path) {}
}
