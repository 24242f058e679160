package dev.gateway.upstream;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.SourceAddress;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request as a balancer sees it.
 *
 * @param tried the endpoints of earlier attempts, the last one last
 */
public record BalancedRequest(RequestHead head, SourceAddress client, List<Endpoint> tried) implements BalancerContext {
    private static final RequestHead HEAD = new RequestHead(
            Method.GET, new AsciiString("http"), new AsciiString("a.test"), new AsciiString("/"), new Fields(), 0);

    /** A GET of whatever, after attempts at these. */
    public static BalancedRequest after(Endpoint... tried) {
        return new BalancedRequest(HEAD, SourceAddress.UNIX, List.of(tried));
    }

    /** The first attempt of a request with this head. */
    public static BalancedRequest of(RequestHead head) {
        return new BalancedRequest(head, SourceAddress.UNIX, List.of());
    }

    /** The first attempt of a GET of a path. */
    public static BalancedRequest to(String path) {
        return to(path, List.of());
    }

    /** A GET of a path, after attempts at these. */
    public static BalancedRequest to(String path, List<Endpoint> tried) {
        RequestHead head =
                new RequestHead(Method.GET, HEAD.scheme(), HEAD.authority(), new AsciiString(path), new Fields(), 0);
        return new BalancedRequest(head, SourceAddress.UNIX, tried);
    }

    @Override
    public @Nullable Endpoint previous() {
        return tried.isEmpty() ? null : tried.get(tried.size() - 1);
    }

    @Override
    public boolean isTried(Endpoint endpoint) {
        return tried.contains(endpoint);
    }
}
