package dev.gateway.message;

import io.netty.util.AsciiString;

/**
 * Client target: scheme, host and port of the URL that the client used, as far as the gateway knows. They are those of the
 * client's own connection and of {@code Host}, or what a trusted proxy has said. Decided once for each request. Immutable.
 *
 * @param scheme {@link Scheme#HTTP} or {@link Scheme#HTTPS}
 * @param authority host and maybe a port; empty if the client named no host
 * @param port the client's port, which the authority need not name
 * @param isStated whether a trusted proxy has named the scheme or the port
 */
public record ClientTarget(AsciiString scheme, AsciiString authority, int port, boolean isStated) {
    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;

    /** Returns what a client uses that is connected to the gateway itself. */
    public static ClientTarget of(AsciiString scheme, AsciiString authority) {
        return new ClientTarget(scheme, authority, port(scheme, authority), false);
    }

    /** Returns the port of an authority, or else the scheme's. An authority may be invalid: then its request is refused. */
    public static int port(AsciiString scheme, AsciiString authority) {
        int usual = usualPort(scheme);
        return Authority.isValid(authority) ? Authority.port(authority, usual) : usual;
    }

    /** Returns the port that URLs of this scheme need not name. */
    public static int usualPort(AsciiString scheme) {
        return scheme.contentEqualsIgnoreCase(Scheme.HTTPS) ? HTTPS_PORT : HTTP_PORT;
    }

    /** Whether the client uses TLS, here or at the proxy in front. */
    public boolean isSecure() {
        return scheme.equals(Scheme.HTTPS);
    }
}
