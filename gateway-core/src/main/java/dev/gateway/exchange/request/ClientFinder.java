package dev.gateway.exchange.request;

import dev.gateway.exchange.settings.ClientTrust;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.forwarded.ForwardedClaims;
import dev.gateway.message.forwarded.ForwardedFields;
import dev.gateway.message.forwarded.ForwardedHops;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.stream.SourceAddress;
import io.netty.util.AsciiString;

/**
 * Finds the client of a request, and the scheme, host and port that it used, once for all who ask. The client is that of the
 * connection or, if that is a trusted proxy, the last hop before the trusted ones. No state.
 */
public final class ClientFinder {
    private ClientFinder() {}

    /** Writes the client and what it used into the record. */
    public static void find(ExchangeRecord record, ExchangeSettings settings) {
        ClientTrust trust = settings.trust();
        SourceAddress nearest = record.connection.client();
        record.fromProxy = trust.isProxy(nearest);
        AsciiString scheme = record.connection.scheme();
        ForwardedFields forwarded = settings.forwarded();
        if (!record.fromProxy || record.fields == null || forwarded == null) {
            record.target = ClientTarget.of(scheme, record.authority);
            return;
        }
        ForwardedHops hops = forwarded.hops(record.fields);
        record.client = client(nearest, hops, trust);
        ForwardedClaims claims = hops.claims(scheme, record.authority);
        record.claims = claims;
        record.target = claims.target();
    }

    /** Goes back hop by hop. Stops at one without an address: it is the client, and nobody knows who wrote those before it. */
    private static SourceAddress client(SourceAddress nearest, ForwardedHops hops, ClientTrust trust) {
        SourceAddress client = nearest;
        while (trust.isProxy(client)) {
            String hop = hops.next();
            if (hop == null) {
                return client; // the proxy asks for itself
            }
            SourceAddress address = SourceAddress.parse(hop);
            client = address == null ? SourceAddress.UNKNOWN : address;
        }
        return client;
    }
}
