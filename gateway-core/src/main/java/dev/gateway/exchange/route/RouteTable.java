package dev.gateway.exchange.route;

import dev.gateway.message.Ascii;
import dev.gateway.message.Authority;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * The compiled routes of a listener. One pass over the host, from its end, finds the exact name and every wildcard that
 * covers it; one pass over the path finds the rest. Makes no object, except for regular expressions. Immutable.
 */
final class RouteTable implements Router {
    private final ByteTable<HostRoutes> exactHosts;
    private final ByteTable<HostRoutes> wildcards; // by what follows the asterisk, such as .example.com
    private final @Nullable HostRoutes anyHost;

    RouteTable(ByteTable<HostRoutes> exactHosts, ByteTable<HostRoutes> wildcards, @Nullable HostRoutes anyHost) {
        this.exactHosts = exactHosts;
        this.wildcards = wildcards;
        this.anyHost = anyHost;
    }

    @Override
    public @Nullable Match match(RequestHead head) {
        return match(head, head.path(), head.queryStart());
    }

    /** Finds the match for a path, which is {@code length} bytes of {@code path}, and all else of a head. */
    @Nullable
    Match match(RequestHead head, AsciiString path, int length) {
        for (HostRoutes host = host(head.authority()); host != null; host = host.parent) {
            Candidate candidate = host.match(head, path, length);
            if (candidate != null) {
                return candidate.result;
            }
        }
        return null;
    }

    private @Nullable HostRoutes host(AsciiString authority) {
        byte[] bytes = authority.array();
        int start = authority.arrayOffset();
        int length = Authority.hostLength(authority);
        if (length > 1 && bytes[start + length - 1] == '.') {
            length--; // example.com. is example.com
        }
        HostRoutes best = anyHost;
        int hash = 0;
        for (int i = start + length - 1; i >= start; i--) {
            hash = hash * 31 + Ascii.lower(bytes[i]);
            if (bytes[i] == '.' && i > start) {
                HostRoutes found = wildcards.getIgnoringCase(hash, bytes, i, start + length - i);
                best = found != null ? found : best;
            }
        }
        HostRoutes exact = exactHosts.getIgnoringCase(hash, bytes, start, length);
        return exact != null ? exact : best;
    }

    /** The hash of a host name in lower case, taken from its end. */
    static int hash(AsciiString host) {
        int hash = 0;
        for (int i = host.length() - 1; i >= 0; i--) {
            hash = hash * 31 + host.byteAt(i);
        }
        return hash;
    }
}
