package dev.gateway.tests.support;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Clients that ask for much and take little, so that whoever serves them has to hold what they do not take. */
public final class Hoarders implements AutoCloseable {
    private static final int SMALL_BUFFER = 4096;

    private final int port;
    private final List<SocketChannel> channels = new ArrayList<>();

    public Hoarders(int port) {
        this.port = port;
    }

    private SocketChannel connect() throws IOException {
        SocketChannel channel = SocketChannel.open();
        channels.add(channel);
        channel.setOption(StandardSocketOptions.SO_RCVBUF, SMALL_BUFFER);
        channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
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
        for (int i = 0; i < connections; i++) {
            write(connect(), ascii("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"));
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
        SocketChannel channel = SocketChannel.open();
        channels.add(channel);
        channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
        frame(out, 4, 0, 0, new byte[] {
            0, 4, (byte) (window >> 24), (byte) (window >> 16), (byte) (window >> 8), (byte) window
        });
        frame(out, 8, 0, 0, new byte[] {0x70, 0, 0, 0});
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        head.writeBytes(new byte[] {(byte) 0x82, (byte) 0x86, 0x01, 1, 'x', 0x04, (byte) path.length()});
        head.writeBytes(ascii(path));
        for (int i = 0; i < streams; i++) {
            frame(out, 1, 5, 2 * i + 1, head.toByteArray());
        }
        write(channel, out.toByteArray());
        Thread reader = new Thread(() -> drain(channel), "hoarder");
        reader.setDaemon(true);
        reader.start();
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
            channel.close();
        }
    }
}
