package dev.gateway.pool;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A name server on the loopback interface that knows a few names' IPv4 addresses (RFC 1035). */
final class FakeDns implements AutoCloseable {
    private static final int TYPE_A = 1;
    private static final int NO_SUCH_NAME = 3;

    private final DatagramSocket socket =
            new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    private final Map<String, List<String>> names = new ConcurrentHashMap<>();

    FakeDns() throws IOException {
        Thread thread = new Thread(this::serve, "dns");
        thread.setDaemon(true);
        thread.start();
    }

    InetSocketAddress address() {
        return (InetSocketAddress) socket.getLocalSocketAddress();
    }

    void answers(String name, String... addresses) {
        names.put(name, List.of(addresses));
    }

    private void serve() {
        byte[] buffer = new byte[512];
        try {
            while (true) {
                DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
                socket.receive(packet);
                byte[] answer = answer(ByteBuffer.wrap(buffer, 0, packet.getLength()));
                socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
            }
        } catch (IOException e) {
            if (!socket.isClosed()) {
                throw new IllegalStateException(e);
            }
        }
    }

    private byte[] answer(ByteBuffer query) throws IOException {
        short id = query.getShort();
        query.position(12);
        StringBuilder name = new StringBuilder();
        int length;
        while ((length = query.get()) > 0) {
            byte[] label = new byte[length];
            query.get(label);
            name.append(name.isEmpty() ? "" : ".").append(new String(label, StandardCharsets.US_ASCII));
        }
        int type = query.getShort();
        query.getShort();
        int questionEnd = query.position();
        List<String> addresses = names.getOrDefault(name.toString(), List.of());
        int count = type == TYPE_A ? addresses.size() : 0;
        ByteBuffer out = ByteBuffer.allocate(512);
        out.putShort(id).putShort((short) (0x8180 | (addresses.isEmpty() ? NO_SUCH_NAME : 0)));
        out.putShort((short) 1).putShort((short) count).putShort((short) 0).putShort((short) 0);
        out.put(query.slice(12, questionEnd - 12));
        for (int i = 0; i < count; i++) {
            out.putShort((short) 0xC00C)
                    .putShort((short) TYPE_A)
                    .putShort((short) 1)
                    .putInt(60);
            out.putShort((short) 4).put(InetAddress.getByName(addresses.get(i)).getAddress());
        }
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return bytes;
    }

    @Override
    public void close() {
        socket.close(); // which ends the thread
    }
}
