package dev.gateway.upstream;

import dev.gateway.message.Authority;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Dynamic forward proxy balancer (original destination). Takes the endpoint that the request names, for CONNECT and
 * forward proxying: its upstream has no endpoints of its own. Filters have applied the policy before. Stateless.
 */
public final class NamedByRequest implements Balancer {
    /** The index of an endpoint that a request names, and that its upstream does not have. */
    public static final int INDEX = -1;

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
        return new Endpoint(INDEX, host, port, 1);
    }
}
