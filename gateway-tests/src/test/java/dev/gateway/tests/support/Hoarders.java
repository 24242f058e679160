package dev.gateway.tests.support;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** Clients that ask for much and take little, so that whoever serves them has to hold what they do not take. */
public final class Hoarders implements AutoCloseable {
    private static final int SMALL_BUFFER = 4096;
    private static final int FRAME = 16 * 1024;

    private final int port;
    private final List<SocketChannel> channels = new ArrayList<>();
    private final List<Socket> sockets = new ArrayList<>(); // of TLS

    public Hoarders(int port) {
        this.port = port;
    }

    private SocketChannel connect() throws IOException {
        return connect(port);
    }

    private SocketChannel connect(int to) throws IOException {
        SocketChannel channel = SocketChannel.open();
        channels.add(channel);
        channel.setOption(StandardSocketOptions.SO_RCVBUF, SMALL_BUFFER);
        channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), to));
        return channel;
    }

    private static void write(SocketChannel channel, byte[] bytes) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
            channel.write(left);
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Asks for something by HTTP/1.1, and reads nothing. */
    public void requestsUnread(int connections, String path) throws IOException {
        requestsUnread(connections, path, 1);
    }

    /** Asks for something by HTTP/1.1 so many times on each connection, and reads nothing. */
    public void requestsUnread(int connections, String path, int times) throws IOException {
        requestsUnread(port, connections, path, times);
    }

    /** Does so at another port. */
    public void requestsUnread(int otherPort, int connections, String path, int times) throws IOException {
        for (int i = 0; i < connections; i++) {
            write(connect(otherPort), ascii(("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n").repeat(times)));
        }
    }

    /**
     * Sends bytes on each of some connections, and reads nothing. What is not taken at once is sent later, as far as it is
     * taken.
     */
    public void send(int connections, byte[] bytes) throws IOException {
        List<SocketChannel> opened = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            SocketChannel channel = connect();
            channel.configureBlocking(false);
            opened.add(channel);
        }
        Thread writer = new Thread(() -> write(opened, bytes), "hoarder");
        writer.setDaemon(true);
        writer.start();
    }

    private static void write(List<SocketChannel> channels, byte[] bytes) {
        List<ByteBuffer> left = new ArrayList<>();
        channels.forEach(channel -> left.add(ByteBuffer.wrap(bytes)));
        while (channels.stream().anyMatch(SocketChannel::isOpen)) {
            int sent = 0;
            for (int i = 0; i < channels.size(); i++) {
                sent += left.get(i).hasRemaining() ? write(channels.get(i), left.get(i)) : 0;
            }
            if (sent == 0) {
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /** Sends a request with a body by HTTP/1.1 on each connection, and reads nothing. */
    public void posts(int connections, String path, String fields, byte[] body) throws IOException {
        String head =
                "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + body.length + "\r\n" + fields + "\r\n";
        for (int i = 0; i < connections; i++) {
            SocketChannel channel = connect();
            write(channel, ascii(head));
            write(channel, body);
        }
    }

    /** Uploads by HTTP/1.1 as much as is taken at once, and goes on in {@link #push}. */
    public void uploads(int connections, String path) throws IOException {
        for (int i = 0; i < connections; i++) {
            SocketChannel channel = connect();
            write(channel, ascii("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n"));
            channel.configureBlocking(false);
        }
    }

    /** Sends what is taken at once of all uploads; returns how much that was. */
    public long push() throws IOException {
        ByteBuffer data = ByteBuffer.allocateDirect(64 * 1024);
        long sent = 0;
        for (SocketChannel channel : channels) {
            for (int n = 1; n > 0; sent += n) {
                n = write(channel, data.clear());
            }
        }
        return sent;
    }

    private static int write(SocketChannel channel, ByteBuffer data) {
        try {
            return channel.write(data);
        } catch (IOException e) {
            return 0; // refused or cut, which is the gateway's right
        }
    }

    /** Reads a little of every response. */
    public void sip(int bytes) throws IOException {
        for (SocketChannel channel : channels) {
            channel.configureBlocking(false);
            try {
                channel.read(ByteBuffer.allocate(bytes));
            } catch (IOException e) {
                // cut, which is the gateway's right
            }
        }
    }

    /**
     * Opens streams of one HTTP/2 connection, each of which asks for something and lets that much come.
     *
     * @param window of each stream; there is no limit to all together
     */
    public void streams(int streams, String path, int window) throws IOException {
        streams(streams, path, window, "GET", i -> List.of());
    }

    /**
     * Opens streams of one HTTP/2 connection with further fields.
     *
     * @param method GET, or POST with a body that does not come
     * @param fields returns names and values for the stream with this number
     */
    public void streams(int streams, String path, int window, String method, IntFunction<List<String>> fields)
            throws IOException {
        SocketChannel channel = SocketChannel.open();
        channels.add(channel);
        channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        write(channel, requests(streams, path, window, method, fields));
        Thread reader = new Thread(() -> drain(channel), "hoarder");
        reader.setDaemon(true);
        reader.start();
    }

    /** Opens streams of one HTTP/2 connection with TLS, each of which asks for something and lets nothing come. */
    public void streams(int securePort, SSLContext context, int streams, String path) throws IOException {
        SSLSocket socket =
                (SSLSocket) context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), securePort);
        sockets.add(socket);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {"h2"});
        socket.setSSLParameters(parameters);
        socket.getOutputStream().write(requests(streams, path, 0, "GET", i -> List.of()));
    }

    /**
     * Returns what a client sends by HTTP/2 that asks for something on each of some streams, and lets that much come.
     *
     * @param window of each stream; there is no limit to all together
     * @param method GET, or POST with a body that does not come
     * @param fields returns names and values for the stream with this number
     */
    public static byte[] requests(
            int streams, String path, int window, String method, IntFunction<List<String>> fields) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
        frame(out, 4, 0, 0, new byte[] {
            0, 4, (byte) (window >> 24), (byte) (window >> 16), (byte) (window >> 8), (byte) window
        });
        frame(out, 8, 0, 0, new byte[] {0x70, 0, 0, 0});
        boolean whole = method.equals("GET");
        for (int i = 0; i < streams; i++) {
            headers(out, whole, 2 * i + 1, head(path, method, fields.apply(i)));
        }
        return out.toByteArray();
    }

    /** Returns what a client sends by HTTP/2 that uploads a body on each of some streams, in pieces of this size. */
    public static byte[] uploads(int streams, String path, int bytes, int piece) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
        frame(out, 4, 0, 0, new byte[0]);
        for (int i = 0; i < streams; i++) {
            headers(out, false, 2 * i + 1, head(path, "POST", List.of()));
            for (int sent = 0; sent < bytes; sent += piece) {
                frame(out, 0, 0, 2 * i + 1, new byte[Math.min(piece, bytes - sent)]);
            }
        }
        return out.toByteArray();
    }

    private static byte[] head(String path, String method, List<String> fields) {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        head.writeBytes(new byte[] {(byte) (method.equals("GET") ? 0x82 : 0x83), (byte) 0x86, 0x01, 1, 'x', 0x04});
        text(head, path);
        for (int i = 0; i < fields.size(); i += 2) {
            head.write(0); // a literal with its name, not indexed
            text(head, fields.get(i));
            text(head, fields.get(i + 1));
        }
        return head.toByteArray();
    }

    private static void text(ByteArrayOutputStream out, String text) {
        int length = text.length();
        if (length < 127) {
            out.write(length);
        } else {
            out.write(127);
            for (length -= 127; length >= 128; length >>= 7) {
                out.write(length | 128);
            }
            out.write(length);
        }
        out.writeBytes(ascii(text));
    }

    private static void headers(ByteArrayOutputStream out, boolean last, int stream, byte[] block) {
        for (int from = 0; from < block.length; from += FRAME) {
            int to = Math.min(block.length, from + FRAME);
            int flags = (to == block.length ? 4 : 0) | (from == 0 && last ? 1 : 0);
            frame(out, from == 0 ? 1 : 9, flags, stream, Arrays.copyOfRange(block, from, to));
        }
    }

    private static void drain(SocketChannel channel) {
        ByteBuffer dropped = ByteBuffer.allocateDirect(64 * 1024);
        try {
            while (channel.read(dropped.clear()) >= 0) {
                // the windows are what stops the gateway
            }
        } catch (IOException e) {
            // closed
        }
    }

    private static void frame(ByteArrayOutputStream out, int type, int flags, int stream, byte[] payload) {
        out.writeBytes(new byte[] {0, (byte) (payload.length >> 8), (byte) payload.length, (byte) type, (byte) flags});
        out.writeBytes(new byte[] {0, 0, (byte) (stream >> 8), (byte) stream});
        out.writeBytes(payload);
    }

    @Override
    public void close() throws IOException {
        for (SocketChannel channel : channels) {
            if (channel.isOpen()) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0); // a FIN would wait behind what nobody reads
            }
            channel.close();
        }
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
