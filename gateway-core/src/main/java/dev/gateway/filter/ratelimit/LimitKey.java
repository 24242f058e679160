package dev.gateway.filter.ratelimit;

import dev.gateway.filter.FilterContext;
import dev.gateway.message.FieldName;
import dev.gateway.message.KeyedHash;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.Identity;
import io.netty.util.AsciiString;
import java.util.List;

/**
 * Limit key: what of a request a limit counts by. Requests in which all parts are the same are counted together, and so are
 * those without a part. Without parts, all requests are. Immutable.
 */
public final class LimitKey {
    private final List<Part> parts;

    /** Makes a key of its parts. */
    public LimitKey(List<Part> parts) {
        this.parts = List.copyOf(parts);
    }

    /** A part of requests. */
    public interface Part {
        /** Returns the hash of what came before and this part. */
        long add(KeyedHash hash, long before, RequestHead head, FilterContext context);
    }

    /** Returns the part that is the client's address, or its IPv6 network of 64 bits. */
    public static Part client() {
        return (hash, before, head, context) -> {
            ClientNetwork network = context.client().network();
            int kind =
                    switch (network.kind()) {
                        case NONE -> 0;
                        case LOCAL -> 1;
                        case IPV4 -> 2;
                        case IPV6 -> 3;
                        case UNKNOWN -> 4;
                    };
            return hash.of(before + kind, network.high());
        };
    }

    /** Returns the part that is who the client has proven to be. */
    public static Part identity() {
        return (hash, before, head, context) -> {
            Identity identity = context.identity();
            return identity == null ? hash.ofAbsent(before) : hash.of(before, identity.name());
        };
    }

    /** Returns the part that is all values of a header field. */
    public static Part header(FieldName name) {
        return (hash, before, head, context) -> hash.ofHeader(before, head.fields(), name);
    }

    /** Returns the part that is the value of a cookie. */
    public static Part cookie(AsciiString name) {
        return (hash, before, head, context) -> hash.ofCookie(before, head.fields(), name);
    }

    /** Returns the part that is the value of a query parameter. */
    public static Part queryParameter(AsciiString name) {
        return (hash, before, head, context) -> hash.ofQueryParameter(before, head, name);
    }

    /** Returns the part that is what a verified token says. */
    public static Part claim(String name) {
        return (hash, before, head, context) -> {
            String claim = context.claims().get(name);
            return claim == null ? hash.ofAbsent(before) : hash.of(before, claim);
        };
    }

    boolean isEmpty() {
        return parts.isEmpty();
    }

    long of(KeyedHash hash, long purpose, RequestHead head, FilterContext context) {
        if (parts.isEmpty()) {
            return Limit.ALL;
        }
        long key = purpose;
        for (int i = 0; i < parts.size(); i++) {
            key = parts.get(i).add(hash, key, head, context);
        }
        return key == Limit.ALL ? 1 : key;
    }
}
