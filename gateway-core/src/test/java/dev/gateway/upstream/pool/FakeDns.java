package dev.gateway.upstream.pool;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A name server on the loopback interface that knows a few names' addresses (RFC 1035), and may be made to wait. */
final class FakeDns implements AutoCloseable {
    static final int TYPE_A = 1;
    static final int TYPE_AAAA = 28;
    private static final int NO_SUCH_NAME = 3;

    private final DatagramSocket socket =
            new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    private final Map<String, List<InetAddress>> names = new ConcurrentHashMap<>();
    private final Set<Integer> withheld = ConcurrentHashMap.newKeySet();
    private final BlockingQueue<DatagramPacket> waiting = new LinkedBlockingQueue<>();
    private final AtomicInteger questions = new AtomicInteger();

    FakeDns() throws IOException {
        Thread thread = new Thread(this::serve, "dns");
        thread.setDaemon(true);
        thread.start();
    }

    InetSocketAddress address() {
        return (InetSocketAddress) socket.getLocalSocketAddress();
    }

    void answers(String name, String... addresses) throws IOException {
        List<InetAddress> known = new ArrayList<>();
        for (String address : addresses) {
            known.add(InetAddress.getByName(address));
        }
        names.put(name, known);
    }

    /** From now on, answers of this type wait for {@link #release}. */
    void withhold(int type) {
        withheld.add(type);
    }

    /** Sends one answer that waits, or will. */
    void release() throws IOException, InterruptedException {
        socket.send(waiting.take());
    }

    /** Waits for an answer that waits for {@link #release}. */
    void awaitWithheld() throws InterruptedException {
        waiting.put(waiting.take());
    }

    int questions() {
        return questions.get();
    }

    private void serve() {
        byte[] buffer = new byte[512];
        try {
            while (true) {
                DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
                socket.receive(packet);
                ByteBuffer query = ByteBuffer.wrap(buffer, 0, packet.getLength());
                byte[] answer = answer(query);
                questions.incrementAndGet();
                DatagramPacket response = new DatagramPacket(answer, answer.length, packet.getSocketAddress());
                if (withheld.contains((int) query.getShort(query.position() - 4))) {
                    waiting.add(response);
                } else {
                    socket.send(response);
                }
            }
        } catch (IOException e) {
            if (!socket.isClosed()) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Answers a query, and leaves it read up to the end of its question. */
    private byte[] answer(ByteBuffer query) {
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
        List<InetAddress> known = names.getOrDefault(name.toString(), List.of());
        List<InetAddress> addresses = known.stream()
                .filter(address -> type == (address instanceof Inet4Address ? TYPE_A : TYPE_AAAA))
                .toList();
        ByteBuffer out = ByteBuffer.allocate(512);
        out.putShort(id).putShort((short) (0x8180 | (known.isEmpty() ? NO_SUCH_NAME : 0)));
        out.putShort((short) 1)
                .putShort((short) addresses.size())
                .putShort((short) 0)
                .putShort((short) 0);
        out.put(query.slice(12, questionEnd - 12));
        for (InetAddress address : addresses) {
            byte[] bytes = address.getAddress();
            out.putShort((short) 0xC00C)
                    .putShort((short) type)
                    .putShort((short) 1)
                    .putInt(60);
            out.putShort((short) bytes.length).put(bytes);
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
