package dev.gateway.upstream.stream;

import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.dial.UpstreamSettings;
import io.netty.util.AsciiString;

/** The authority of an endpoint: the Host of a request where the gateway does not forward the client's. */
public final class EndpointAuthority {
    private static final AsciiString LOCALHOST = new AsciiString("localhost");

    private EndpointAuthority() {}

    /** Returns host and port, without the port if it is the scheme's own. */
    public static AsciiString of(Endpoint endpoint, UpstreamSettings settings) {
        if (endpoint.port() == 0) {
            return LOCALHOST; // a socket file has no host name
        }
        int usual = settings.tls() == null ? 80 : 443;
        String host = endpoint.name();
        if (host.indexOf(':') >= 0) {
            host = "[" + host + "]";
        }
        return new AsciiString(endpoint.port() == usual ? host : host + ":" + endpoint.port());
    }
}
