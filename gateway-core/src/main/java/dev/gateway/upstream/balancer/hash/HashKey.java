package dev.gateway.upstream.balancer.hash;

import dev.gateway.message.FieldName;
import dev.gateway.message.KeyHash;
import dev.gateway.upstream.BalancerContext;
import io.netty.util.AsciiString;

/**
 * Hash policy: which part of a request a balancer hashes.
 *
 * @param name the name of the header, cookie or query parameter; empty for other parts
 * @param terminal whether keys after this one do not count if the request has this one
 */
public record HashKey(Source source, AsciiString name, FieldName field, boolean terminal) {
    /** Parts of a request. */
    public enum Source {
        HEADER,
        COOKIE,
        QUERY_PARAMETER,
        /** Without the query. */
        PATH,
        /** The client's address, without its port. */
        CLIENT
    }

    /** Makes a key. */
    public HashKey(Source source, String name, boolean terminal) {
        this(source, new AsciiString(name), FieldName.of(source == Source.HEADER ? name : "-"), terminal);
    }

    /** Returns it as people are told, such as {@code header x-user}. */
    @Override
    public String toString() {
        return switch (source) {
            case HEADER -> "header " + name;
            case COOKIE -> "cookie " + name;
            case QUERY_PARAMETER -> "query parameter " + name;
            case PATH -> "path";
            case CLIENT -> "client address";
        };
    }

    /** Returns the hash of that part of a request, {@link KeyHash#NONE} if it has none. */
    long of(BalancerContext request) {
        return switch (source) {
            case HEADER ->
                field.equals(FieldName.HOST)
                        ? KeyHash.ofAuthority(request.head())
                        : KeyHash.ofHeader(request.head().fields(), field);
            case COOKIE -> KeyHash.ofCookie(request.head().fields(), name);
            case QUERY_PARAMETER -> KeyHash.ofQueryParameter(request.head(), name);
            case PATH -> KeyHash.ofPath(request.head());
            case CLIENT ->
                request.client().ip() == null
                        ? KeyHash.NONE
                        : KeyHash.of(request.client().text());
        };
    }
}
