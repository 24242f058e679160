package dev.gateway.upstream.dial;

import dev.gateway.config.upstream.UpstreamConfig.SendProxyProtocol;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Settings for dialing an upstream, beyond a socket to an endpoint.
 *
 * @param addresses which addresses the gateway may dial, null for all
 * @param parents the proxies that connections go through
 * @param proxyHeader the PROXY protocol header that tells the endpoint about the client of a tunnel
 */
public record DialSettings(@Nullable AddressPolicy addresses, ParentProxies parents, SendProxyProtocol proxyHeader) {
    /** Straight to the endpoint, wherever it is. */
    public static final DialSettings DIRECT = new DialSettings(null, ParentProxies.NONE, SendProxyProtocol.NONE);

    /**
     * Applies the address policy to a destination that a parent is to dial, as far as possible without resolving its name.
     *
     * @return why the gateway must not request it, or null
     */
    public @Nullable String refuseByParent(String host, int port) {
        if (addresses == null) {
            return null;
        }
        // Netty accepts more forms of addresses than IpLiteral does: here that denies more.
        InetAddress known = NetUtil.createInetAddressFromIpAddressString(host);
        return known == null ? addresses.refuseName(host, port) : addresses.refuse(host, known, port);
    }
}
