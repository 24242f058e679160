package dev.gateway.tests.peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/**
 * A port of 127.0.0.1 that refuses connections. It is bound as long as the JVM runs: one that was merely free a moment ago
 * may be given to a listener of the very gateway that is to find nobody there.
 */
public final class ClosedPort {
    private static final Socket HOLDER = holdForEver();

    private ClosedPort() {}

    private static Socket holdForEver() {
        try {
            return hold();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a socket that keeps another such port, on which somebody may listen from time to time. */
    public static Socket hold() throws IOException {
        Socket socket = new Socket();
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        return socket;
    }

    /** Returns its number. */
    public static int number() {
        return HOLDER.getLocalPort();
    }
}
