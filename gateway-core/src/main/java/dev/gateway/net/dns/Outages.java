package dev.gateway.net.dns;

import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.dns.DnsErrorCauseException;
import io.netty.resolver.dns.DnsNameResolver;

/** DNS outage: distinguishes queries without an answer from answers without records. */
public final class Outages {
    private Outages() {}

    /**
     * Whether a query failed because no name server answered, or because the answer was SERVFAIL. Netty reports REFUSED like
     * an answer without records.
     */
    public static boolean isOne(Throwable why) {
        for (Throwable each = why; each != null; each = each.getCause()) {
            if (each instanceof DnsErrorCauseException answer
                    && answer.getCode().equals(DnsResponseCode.SERVFAIL)) {
                return true;
            }
        }
        return DnsNameResolver.isTransportOrTimeoutError(why);
    }
}
