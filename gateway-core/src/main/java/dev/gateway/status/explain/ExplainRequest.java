package dev.gateway.status.explain;

import dev.gateway.format.IpLiteral;
import dev.gateway.message.Authority;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.SourceAddress;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A request to explain what would become of some other request, or of a tunnel.
 *
 * @param listener by which it would come, null for all that could be meant
 * @param connect host and port of a tunnel, null for a request
 * @param host null for none, as an HTTP/1.0 client may send
 * @param path and maybe query; or the whole {@code http} URI that a client writes to a forward proxy
 * @param headers lines such as {@code Name: value}
 * @param identity who the client would have proven to be, or null
 * @param groups of which the client would be a member, besides those that the configuration's files name
 * @param client the address of the client behind trusted proxies, null if it is not known
 */
public record ExplainRequest(
        @Nullable String listener,
        @Nullable String connect,
        String method,
        @Nullable String host,
        String path,
        List<String> headers,
        @Nullable String identity,
        Set<String> groups,
        @Nullable String client) {
    private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
    private static final String HTTP_URI = "http://";
    private static final int HTTP_PORT = 80;
    private static final Pattern ADDRESS_AND_PORT = Pattern.compile("([0-9.]+|\\[[0-9A-Fa-f:.]+]):[0-9]{1,5}");

    public ExplainRequest {
        headers = List.copyOf(headers);
        groups = Set.copyOf(groups);
        if (client != null && !isAddress(client)) {
            throw new IllegalArgumentException("client: expected an IP address, not " + client);
        }
        if (connect == null) {
            if (!method.matches(TOKEN)) {
                throw new IllegalArgumentException("method: not a token: " + method);
            }
            String authority = authority(host, path);
            if (authority != null && !Authority.isValid(new AsciiString(authority))) {
                throw new IllegalArgumentException("host: not a host and maybe a port: " + authority);
            }
            boolean other = path.startsWith(HTTP_URI) || (path.equals("*") && method.equals("OPTIONS"));
            if ((!path.startsWith("/") && !other) || !path.chars().allMatch(c -> c > ' ' && c != 0x7f)) {
                throw new IllegalArgumentException("path: expected a path such as /a/b?c=d, not " + path);
            }
            headers.forEach(ExplainRequest::check);
        }
    }

    /** A port that is no number, which some proxies write, is a mistake here. */
    private static boolean isAddress(String text) {
        boolean bracketed = text.startsWith("[") && text.endsWith("]");
        if (IpLiteral.parse(bracketed ? text.substring(1, text.length() - 1) : text) != null) {
            return true;
        }
        SourceAddress address = ADDRESS_AND_PORT.matcher(text).matches() ? SourceAddress.parse(text) : null;
        return address != null && address.port() > 0;
    }

    private static @Nullable String authority(@Nullable String host, String path) {
        return path.startsWith(HTTP_URI) ? path.substring(HTTP_URI.length(), authorityEnd(path)) : host;
    }

    private static int authorityEnd(String uri) {
        int end = HTTP_URI.length();
        while (end < uri.length() && uri.charAt(end) != '/' && uri.charAt(end) != '?') {
            end++;
        }
        return end;
    }

    /** Whether the request has a whole URI, as for a forward proxy. */
    boolean isAbsolute() {
        return connect == null && path.startsWith(HTTP_URI);
    }

    /** Returns the question whether there may be a connection to where a whole URI leads. */
    ExplainRequest toTarget() {
        String authority = String.valueOf(authority(host, path));
        String target = Authority.port(new AsciiString(authority), -1) < 0 ? authority + ":" + HTTP_PORT : authority;
        return new ExplainRequest(listener, target, method, host, path, headers, identity, groups, client);
    }

    /** Returns the address of the client, null if it is not known. */
    @Nullable
    SourceAddress address() {
        return client == null ? null : SourceAddress.parse(client);
    }

    private static void check(String line) {
        int colon = line.indexOf(':');
        if (colon < 0
                || !line.substring(0, colon).matches(TOKEN)
                || line.chars().anyMatch(c -> c < ' ' && c != '\t')) {
            throw new IllegalArgumentException("header: expected a line such as 'X-Tier: gold', not '" + line + "'");
        }
    }

    /** Returns the head of the request. */
    RequestHead head() {
        Fields fields = new Fields();
        for (String line : headers) {
            int colon = line.indexOf(':');
            fields.add(
                    ascii(line.substring(0, colon)),
                    ascii(line.substring(colon + 1).strip()));
        }
        String authority = authority(host, path);
        String rest = isAbsolute() ? path.substring(authorityEnd(path)) : path;
        RequestHead head = new RequestHead(
                Method.of(method),
                Scheme.HTTP,
                authority == null ? AsciiString.EMPTY_STRING : ascii(authority),
                ascii(rest.startsWith("/") || rest.equals("*") ? rest : "/" + rest),
                fields,
                0);
        head.setAbsoluteForm(isAbsolute());
        return head;
    }

    private static AsciiString ascii(String text) {
        return new AsciiString(text.getBytes(StandardCharsets.UTF_8), false);
    }

    @Override
    public String toString() {
        String by = listener == null ? "" : " by listener " + listener;
        String who = identity == null ? "" : " of " + identity;
        return connect != null
                ? "CONNECT " + connect + who + by
                : method + " " + (host == null || isAbsolute() ? "" : host) + path
                        + (client == null ? "" : " from " + address()) + by;
    }
}
