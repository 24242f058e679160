package dev.gateway.message;

import io.netty.util.AsciiString;

/** URI scheme: the schemes of URIs that requests are for. */
public final class Scheme {
    public static final AsciiString HTTP = new AsciiString("http");
    public static final AsciiString HTTPS = new AsciiString("https");

    private Scheme() {}

    /** Returns the scheme of requests with TLS, or without. */
    public static AsciiString of(boolean tls) {
        return tls ? HTTPS : HTTP;
    }
}
