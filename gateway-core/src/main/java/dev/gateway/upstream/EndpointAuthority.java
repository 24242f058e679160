package dev.gateway.upstream;

import io.netty.util.AsciiString;

/** The authority of an endpoint: what a request names as its host where the client has no say in it. */
public final class EndpointAuthority {
    private static final AsciiString LOCALHOST = new AsciiString("localhost");

    private EndpointAuthority() {}

    /** Returns host and port, without the port if it is the scheme's own. */
    public static AsciiString of(Endpoint endpoint, UpstreamSettings settings) {
        if (endpoint.port() == 0) {
            return LOCALHOST; // a socket file has no name that would do
        }
        int usual = settings.tls() == null ? 80 : 443;
        String host = endpoint.name();
        if (host.indexOf(':') >= 0) {
            host = "[" + host + "]";
        }
        return new AsciiString(endpoint.port() == usual ? host : host + ":" + endpoint.port());
    }
}
