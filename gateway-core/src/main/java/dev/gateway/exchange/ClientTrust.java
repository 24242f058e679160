package dev.gateway.exchange;

import dev.gateway.format.CidrSet;
import dev.gateway.message.OddNames;
import dev.gateway.stream.SourceAddress;

/**
 * Trusted proxies: which fields of requests a listener believes, and from whom. Immutable, shared by all event loops.
 *
 * @param proxies whose word is believed about where requests come from, their ids and their traces
 * @param tracesOfAnyone whether everybody's word about traces is
 * @param oddNames what becomes of fields whose names upstreams may take for others
 */
public record ClientTrust(CidrSet proxies, boolean tracesOfAnyone, OddNames.Policy oddNames) {
    /** Trusts nobody, and lets all names pass: for tests. */
    public static final ClientTrust NOBODY = new ClientTrust(CidrSet.EMPTY, false, OddNames.Policy.ALLOW);

    /** Whether an address is that of a trusted proxy. */
    boolean isProxy(SourceAddress address) {
        return address.ip() != null && proxies.contains(address.ip());
    }
}
