package dev.gateway.tests.support;

import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An upstream that a test stops and starts again. While it is down, its port refuses connections, and nobody else can get
 * it. It begins stopped.
 */
public final class RestartedOrigin implements AutoCloseable {
    private final Socket holder = ClosedPort.hold();
    private final Behavior behavior;
    private @Nullable Origin origin;

    public RestartedOrigin(Behavior behavior) throws IOException {
        this.behavior = behavior;
    }

    public int port() {
        return holder.getLocalPort();
    }

    /** Starts it, and returns it. */
    public RestartedOrigin start() throws IOException {
        origin = Origin.startAt("127.0.0.1", port()).otherwise(behavior);
        return this;
    }

    /** Closes its port and all its connections; returns when connections are refused. */
    public void stop() throws IOException {
        if (origin != null) {
            origin.close();
            origin = null;
            awaitRefusal();
        }
    }

    private void awaitRefusal() throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (System.nanoTime() < deadline) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port()), Peer.PATIENCE_MILLIS);
            } catch (ConnectException e) {
                return;
            } catch (SocketException e) {
                // the kernel has accepted it a moment before the port was closed
            }
        }
        throw new IOException("port " + port() + " still takes connections");
    }

    @Override
    public void close() throws IOException {
        stop();
        holder.close();
    }
}
