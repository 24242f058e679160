package dev.gateway.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/**
 * A port of the loopback interface for a listener of the test, which must know its number before it is bound. It is held by
 * a socket that does not listen, so the system gives it to nobody else; a server may bind it all the same, since both have
 * {@code SO_REUSEADDR}. As long as no server does, it refuses connections.
 */
public final class HeldPort implements AutoCloseable {
    private final Socket holder = new Socket();

    public HeldPort() throws IOException {
        holder.setReuseAddress(true);
        holder.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    public int number() {
        return holder.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        holder.close();
    }
}
