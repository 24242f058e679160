package dev.gateway.upstream.balancer;

import dev.gateway.message.Authority;
import dev.gateway.message.RequestHead;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Dynamic forward proxy balancer (original destination). Takes the endpoint that the request names, for CONNECT and
 * forward proxying: its upstream has no endpoints of its own. Filters have applied the policy before. Stateless.
 */
public final class NamedByRequest implements Balancer {
    /** Makes this balancer; ignores the list of endpoints. */
    public static final Policy POLICY = hosts -> new NamedByRequest();

    private static final int HTTP_PORT = 80;

    @Override
    public @Nullable Endpoint choose(BalancerContext request) {
        RequestHead head = request.head();
        AsciiString authority = head.authority();
        int port = Authority.port(authority, head.isConnect() ? 0 : HTTP_PORT);
        if (authority.isEmpty() || port == 0) {
            return null;
        }
        String host = authority.subSequence(0, Authority.hostLength(authority)).toString();
        if (host.startsWith("[")) {
            host = host.substring(1, host.length() - 1);
        }
        return new Endpoint(Endpoint.NAMED_INDEX, host, port, 1);
    }
}
