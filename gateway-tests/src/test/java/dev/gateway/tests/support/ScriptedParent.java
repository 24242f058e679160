package dev.gateway.tests.support;

import dev.gateway.tests.peer.Peer;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A proxy whose answers are a test's. Each connection has a thread; the script owns the socket until it returns. */
public final class ScriptedParent implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
    private final Script script;

    /** What it was asked: request heads, or the destinations of SOCKS. */
    public final List<String> asked = new CopyOnWriteArrayList<>();

    /** Serves one connection. */
    public interface Script {
        void serve(ScriptedParent parent, Socket socket) throws IOException;
    }

    public ScriptedParent(Script script) throws IOException {
        this.script = script;
        start(this::accept);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "parent");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                socket.setSoTimeout(Peer.PATIENCE_MILLIS);
                start(() -> serve(socket));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            script.serve(this, socket);
        } catch (IOException e) {
            // The gateway has gone, which is what some scripts are for.
        }
    }

    public int port() {
        return server.getLocalPort();
    }

    /** Reads a head, up to its empty line; empty if there is none. */
    public String readHead(Socket socket) throws IOException {
        StringBuilder head = new StringBuilder();
        InputStream in = socket.getInputStream();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                return "";
            }
            head.append((char) next);
        }
        asked.add(head.toString());
        return head.toString();
    }

    /** Holds the SOCKS conversation up to the request, asking for no password; returns its host. */
    public String readSocks(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        in.readByte();
        in.readNBytes(in.readByte());
        socket.getOutputStream().write(new byte[] {5, 0});
        byte[] request = in.readNBytes(4);
        byte[] host = in.readNBytes(request[3] == 3 ? in.readByte() : request[3] == 1 ? 4 : 16);
        int port = in.readUnsignedShort();
        String name = request[3] == 3
                ? new String(host, StandardCharsets.US_ASCII)
                : InetAddress.getByAddress(host).getHostAddress();
        asked.add(name + " " + port);
        return name;
    }

    public static void write(Socket socket, String text) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(text.getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
    }

    /** Sends back what comes, until nothing more does. */
    public static void echo(Socket socket) throws IOException {
        socket.getInputStream().transferTo(socket.getOutputStream());
    }

    /** Says nothing, until the gateway has had enough. */
    public static void waitForEnd(Socket socket) throws IOException {
        while (socket.getInputStream().read() >= 0) {
            // Whatever it says.
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
