package dev.gateway.tests.peer;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;

/**
 * A name server on a port of its own (RFC 1035, as far as A and AAAA questions go) that answers as a test wants, each
 * time anew; answers are not to be kept. Serves from a thread of its own.
 */
public final class DnsServer implements AutoCloseable {
    private static final int TYPE_A = 1;
    private static final int TYPE_AAAA = 28;
    private static final int NO_SUCH_NAME = 3;

    private final DatagramSocket socket;
    private final Function<String, List<String>> addresses;
    private final Queue<String> asked = new ConcurrentLinkedQueue<>();

    private DnsServer(DatagramSocket socket, Function<String, List<String>> addresses) {
        this.socket = socket;
        this.addresses = addresses;
    }

    /**
     * Starts one.
     *
     * @param addresses the addresses of a name, in lower case and without a dot at its end; empty if there is no such
     *     name
     */
    public static DnsServer start(Function<String, List<String>> addresses) throws IOException {
        DnsServer server = new DnsServer(new DatagramSocket(0, InetAddress.getByName("127.0.0.1")), addresses);
        Thread thread = new Thread(server::serve, "dns");
        thread.setDaemon(true);
        thread.start();
        return server;
    }

    public int port() {
        return socket.getLocalPort();
    }

    /** Returns what has been asked for so far, such as {@code A example.test}. */
    public List<String> asked() {
        return List.copyOf(asked);
    }

    private void serve() {
        byte[] buffer = new byte[1500];
        while (true) {
            DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
            try {
                socket.receive(packet);
                byte[] answer = answer(ByteBuffer.wrap(buffer, 0, packet.getLength()));
                socket.send(new DatagramPacket(answer, answer.length, (InetSocketAddress) packet.getSocketAddress()));
            } catch (SocketException e) {
                return; // closed
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private byte[] answer(ByteBuffer query) throws IOException {
        int id = query.getShort();
        query.position(12);
        StringBuilder name = new StringBuilder();
        for (int length = query.get(); length > 0; length = query.get()) {
            byte[] label = new byte[length];
            query.get(label);
            name.append(name.isEmpty() ? "" : ".").append(new String(label, StandardCharsets.US_ASCII));
        }
        int type = query.getShort();
        query.getShort();
        byte[] question = new byte[query.position() - 12];
        query.get(12, question);

        String asked = name.toString().toLowerCase(Locale.ROOT);
        this.asked.add((type == TYPE_A ? "A " : type == TYPE_AAAA ? "AAAA " : type + " ") + asked);
        List<String> known = addresses.apply(asked);
        ByteArrayOutputStream records = new ByteArrayOutputStream();
        int count = 0;
        for (String address : known) {
            byte[] bytes = InetAddress.getByName(address).getAddress();
            if (type != (bytes.length == 4 ? TYPE_A : TYPE_AAAA)) {
                continue;
            }
            count++;
            records.write(ByteBuffer.allocate(12 + bytes.length)
                    .putShort((short) 0xC00C) // the name of the question
                    .putShort((short) type)
                    .putShort((short) 1)
                    .putInt(0)
                    .putShort((short) bytes.length)
                    .put(bytes)
                    .array());
        }
        int flags = 0x8580 | (known.isEmpty() ? NO_SUCH_NAME : 0);
        return ByteBuffer.allocate(12 + question.length + records.size())
                .putShort((short) id)
                .putShort((short) flags)
                .putShort((short) 1)
                .putShort((short) count)
                .putInt(0)
                .put(question)
                .put(records.toByteArray())
                .array();
    }

    @Override
    public void close() {
        socket.close();
    }
}
