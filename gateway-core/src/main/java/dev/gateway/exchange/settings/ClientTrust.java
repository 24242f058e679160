package dev.gateway.exchange.settings;

import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.format.CidrSet;
import dev.gateway.stream.SourceAddress;

/**
 * Trusted proxies: which fields of requests a listener believes, and from which peers. Immutable, shared by all event
 * loops.
 *
 * @param proxies the peers that may say where requests come from, and set request IDs and traces
 * @param tracesOfAnyone whether all peers may set traces
 * @param oddNames what to do with fields whose names upstreams may misread
 */
public record ClientTrust(CidrSet proxies, boolean tracesOfAnyone, HeadersWithUnderscores oddNames) {
    /** Trusts nobody and allows all names: for tests. */
    public static final ClientTrust NOBODY = new ClientTrust(CidrSet.EMPTY, false, HeadersWithUnderscores.ALLOW);

    /** Whether an address is a trusted proxy's. */
    public boolean isProxy(SourceAddress address) {
        return address.ip() != null && proxies.contains(address.ip());
    }
}
