package dev.gateway.upstream;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Settings for dialing an upstream, beyond a socket to an endpoint.
 *
 * @param addresses which addresses may be dialed, null for all
 * @param parents the proxies that connections go through
 * @param proxyHeader what a tunnel's connection begins with to tell the endpoint of the client
 */
public record DialSettings(@Nullable AddressPolicy addresses, ParentProxies parents, ProxyHeader proxyHeader) {
    private static final String LOCALHOST = "localhost";

    /** Straight to the endpoint, wherever it is. */
    public static final DialSettings DIRECT = new DialSettings(null, ParentProxies.NONE, ProxyHeader.NONE);

    /**
     * Judges a destination that a parent is to dial, as far as can be told without resolving its name: an address, or
     * what every resolver takes for this machine (RFC 6761, section 6.3).
     *
     * @return why it must not be asked for, or null
     */
    public @Nullable String refuseByParent(String host, int port) {
        if (addresses == null) {
            return null;
        }
        boolean local = host.equals(LOCALHOST) || host.endsWith("." + LOCALHOST);
        // Netty reads more as an address than IpLiteral does: here that denies more.
        InetAddress known = local ? NetUtil.LOCALHOST4 : NetUtil.createInetAddressFromIpAddressString(host);
        return known == null ? null : addresses.refuse(host, known, port);
    }

    /** The versions of the PROXY protocol, and none. */
    public enum ProxyHeader {
        NONE,
        /** The line of text. */
        V1,
        /** The binary header. */
        V2
    }
}
