package dev.gateway.tests.support;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An HTTP/1.1 origin for tests of memory, with a thread for each connection: {@code /bulk} is 1 GiB as fast as it is
 * taken, {@code /part} is 64 KiB, {@code /sink} takes nothing of what is sent to it, everything else is answered "ok".
 */
public final class BulkOrigin implements AutoCloseable {
    private static final byte[] CHUNK = new byte[64 * 1024];

    private final ServerSocket server;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    private BulkOrigin(ServerSocket server) {
        this.server = server;
    }

    public static BulkOrigin start() throws IOException {
        BulkOrigin origin = new BulkOrigin(new ServerSocket(0, 4096, InetAddress.getLoopbackAddress()));
        start(origin::accept);
        return origin;
    }

    public int port() {
        return server.getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = server.accept();
                open.add(socket);
                start(() -> serve(socket));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(null, task, "bulk origin", 256 * 1024);
        thread.setDaemon(true);
        thread.start();
    }

    private void serve(Socket socket) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            for (String request = line(in); !request.isEmpty(); request = line(in)) {
                while (!line(in).isEmpty()) {
                    // fields are not looked at
                }
                if (request.contains(" /bulk ")) {
                    send(out, 1 << 14);
                } else if (request.contains(" /part ")) {
                    send(out, 1);
                } else if (request.contains(" /sink ")) {
                    Thread.sleep(Long.MAX_VALUE);
                } else {
                    out.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes(StandardCharsets.US_ASCII));
                }
            }
        } catch (IOException | InterruptedException e) {
            // the gateway has gone, or the test
        } finally {
            open.remove(socket);
        }
    }

    private static void send(OutputStream out, int chunks) throws IOException {
        long length = (long) chunks * CHUNK.length;
        out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        for (int i = 0; i < chunks; i++) {
            out.write(CHUNK);
        }
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : open) {
            socket.close();
        }
    }
}
