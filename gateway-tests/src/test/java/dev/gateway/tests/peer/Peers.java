package dev.gateway.tests.peer;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.net.Socket;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** What a client speaks, and how it connects. */
public enum Peers {
    HTTP1,
    H2C,
    HTTP1_TLS,
    H2_TLS;

    /** Connects to a port of this host, trusting whoever answers. */
    public Peer connect(int port) throws IOException {
        return connect(port, Sockets.clientContext());
    }

    /** Takes a connection in cleartext that there is. */
    public Peer on(Socket socket) throws IOException {
        Sockets.configure(socket);
        return switch (this) {
            case HTTP1 -> new Http1Peer(socket, new BufferedInputStream(socket.getInputStream(), 65536), true);
            case H2C -> Http2Peer.client(socket);
            case HTTP1_TLS, H2_TLS -> throw new IllegalArgumentException(this + " is not in cleartext");
        };
    }

    /** Connects to a port of this host; by TLS as the context says. */
    public Peer connect(int port, SSLContext context) throws IOException {
        return switch (this) {
            case HTTP1 -> Http1Peer.connect(port);
            case H2C -> Http2Peer.connect(port);
            case HTTP1_TLS -> {
                Socket transport = Sockets.connect(port);
                SSLSocket socket = Sockets.secure(transport, context, "http/1.1");
                yield new Http1Peer(socket, transport, true);
            }
            case H2_TLS -> Http2Peer.client(Sockets.secure(Sockets.connect(port), context, "h2"));
        };
    }

    /** Whether connections are secured. */
    public boolean isTls() {
        return this == HTTP1_TLS || this == H2_TLS;
    }

    /** Whether exchanges share a connection. */
    public boolean isHttp2() {
        return this == H2C || this == H2_TLS;
    }
}
