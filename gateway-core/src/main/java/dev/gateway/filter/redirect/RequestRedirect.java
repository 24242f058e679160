package dev.gateway.filter.redirect;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.filter.rewrite.PathRewrite;
import dev.gateway.message.AsciiBuilder;
import dev.gateway.message.Authority;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Answers with a redirect (the Gateway API's RequestRedirect). Parts not configured are the request's, query included.
 * The port is the configured one; else, if a scheme is configured, that scheme's; else the listener's, unless a trusted proxy
 * names the client's scheme or port. A scheme's usual port is not written.
 */
public final class RequestRedirect implements Filter {
    private static final Set<Integer> CODES = Set.of(301, 302, 303, 307, 308);
    private static final AsciiString SCHEME_END = new AsciiString("://");

    private final @Nullable AsciiString scheme;
    private final @Nullable AsciiString hostname;
    private final int port;
    private final @Nullable PathRewrite path;
    private final int statusCode;
    private final FieldEdits headers;

    /** Makes a filter whose answers have no further fields. */
    public RequestRedirect(
            @Nullable String scheme, @Nullable String hostname, int port, @Nullable PathRewrite path, int statusCode) {
        this(scheme, hostname, port, path, statusCode, List.of());
    }

    /**
     * Makes the filter.
     *
     * @param scheme {@code http} or {@code https}, null for the request's
     * @param hostname without port, null for the request's
     * @param port 0 for the scheme's or listener's
     * @param path null for the request's
     * @param statusCode 301, 302, 303, 307 or 308
     * @param headers further fields of the answer
     * @throws IllegalArgumentException if an argument has another value
     */
    public RequestRedirect(
            @Nullable String scheme,
            @Nullable String hostname,
            int port,
            @Nullable PathRewrite path,
            int statusCode,
            List<FieldEdits.Field> headers) {
        if (!CODES.contains(statusCode)) {
            throw new IllegalArgumentException("not a redirect status: " + statusCode);
        }
        if (scheme != null && !scheme.equals("http") && !scheme.equals("https")) {
            throw new IllegalArgumentException("not a scheme: " + scheme);
        }
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("not a port: " + port);
        }
        this.scheme = scheme == null ? null : new AsciiString(scheme);
        this.hostname = hostname == null ? null : new AsciiString(hostname);
        Authority authority = this.hostname == null ? null : Authority.parse(this.hostname);
        if (hostname != null && (authority == null || authority.port() != -1)) {
            throw new IllegalArgumentException("not a host name: " + hostname);
        }
        this.port = port;
        this.path = path;
        this.statusCode = statusCode;
        this.headers = new FieldEdits(List.of(), headers, List.of());
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        Fields fields = new Fields();
        headers.apply(fields, context);
        fields.set(FieldName.LOCATION, location(head, context));
        return new Verdict.Reply(new ResponseHead(statusCode, null, fields, 0), Unpooled.EMPTY_BUFFER);
    }

    private AsciiString location(RequestHead head, FilterContext context) {
        AsciiString target = path == null ? head.path() : path.apply(head, context.matchedPrefixLength());
        AsciiString authority = head.authority();
        if (hostname == null && authority.isEmpty()) {
            return target; // an HTTP/1.0 client that names no host: relative is all there is
        }
        ClientTarget used = context.target();
        AsciiString toScheme = scheme != null ? scheme : used.scheme();
        AsciiBuilder location = new AsciiBuilder(target.length() + 64);
        location.add(toScheme).add(SCHEME_END);
        if (hostname != null) {
            location.add(hostname);
        } else {
            location.add(authority, 0, Authority.hostLength(authority));
        }
        int usual = ClientTarget.usualPort(toScheme);
        int toPort = port != 0 ? port : scheme != null ? usual : clientPort(used, context);
        if (toPort != usual) {
            location.add(':').addDecimal(toPort);
        }
        if (!target.isEmpty() && target.byteAt(0) == '/') {
            location.add(target);
        } else {
            location.add('/'); // OPTIONS *
        }
        return location.build();
    }

    private static int clientPort(ClientTarget used, FilterContext context) {
        InetSocketAddress local = context.connection().local();
        return local == null || used.isStated() ? used.port() : local.getPort();
    }
}
