package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/**
 * How connections of an upstream are made, beyond a socket to an endpoint.
 *
 * @param addresses which addresses may be dialled, null for all
 * @param parents the proxies that connections go through
 * @param proxyHeader what a tunnel's connection begins with to tell the endpoint of the client
 */
public record Dialling(@Nullable AddressPolicy addresses, ParentProxies parents, ProxyHeader proxyHeader) {
    /** Straight to the endpoint, wherever it is. */
    public static final Dialling DIRECT = new Dialling(null, ParentProxies.NONE, ProxyHeader.NONE);

    /** The versions of the PROXY protocol, and none. */
    public enum ProxyHeader {
        NONE,
        /** The line of text. */
        V1,
        /** The binary header. */
        V2
    }
}
