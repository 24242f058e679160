package dev.gateway.tests.peer;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Passes connections on to a port of this host, and counts them and the bytes that were delivered each way. */
public final class CountingRelay implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress());
    private final int port;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicLong there = new AtomicLong();
    private final AtomicLong back = new AtomicLong();
    private volatile long delayMillis;

    /** Listens for connections to be passed on to a port. */
    public CountingRelay(int port) throws IOException {
        this.port = port;
        start(this::accept);
    }

    /** Delivers nothing of new connections for this time, as a host far away does. */
    public void delay(long millis) {
        delayMillis = millis;
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "relay");
        thread.setDaemon(true);
        thread.start();
    }

    public int port() {
        return server.getLocalPort();
    }

    public int connections() {
        return connections.get();
    }

    /** Returns how many connections have not ended in both directions. */
    public int open() {
        return open.get();
    }

    /** Returns how many bytes were sent to that port. */
    public long bytesThere() {
        return there.get();
    }

    /** Returns how many bytes were received from it. */
    public long bytesBack() {
        return back.get();
    }

    private void accept() {
        try {
            while (true) {
                Socket near = server.accept();
                Socket far = new Socket(InetAddress.getLoopbackAddress(), port);
                near.setTcpNoDelay(true);
                far.setTcpNoDelay(true);
                sockets.add(near);
                sockets.add(far);
                connections.incrementAndGet();
                open.incrementAndGet();
                AtomicInteger directions = new AtomicInteger(2);
                long delay = delayMillis;
                start(() -> {
                    pause(delay);
                    pass(near, far, there, directions);
                });
                start(() -> pass(far, near, back, directions));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private static void pause(long millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Reads to the end also when the other side has stopped taking, so that all that was sent is counted. */
    private void pass(Socket from, Socket to, AtomicLong count, AtomicInteger directions) {
        byte[] buffer = new byte[65_536];
        boolean delivers = true;
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                count.addAndGet(n);
                delivers = delivers && deliver(out, buffer, n);
            }
        } catch (IOException e) {
            // A reset is an end, too.
        }
        try {
            to.shutdownOutput();
        } catch (IOException e) {
            // It has gone already.
        }
        if (directions.decrementAndGet() == 0) {
            open.decrementAndGet();
        }
    }

    private static boolean deliver(OutputStream out, byte[] buffer, int length) {
        try {
            out.write(buffer, 0, length);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
