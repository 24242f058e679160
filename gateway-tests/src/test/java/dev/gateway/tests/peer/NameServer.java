package dev.gateway.tests.peer;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A name server on the loopback interface (RFC 1035) that may say something else each time: of a name's answers each is
 * given once, in turn, with no time to live; the last one again and again. It may also fail, or say nothing.
 */
public final class NameServer implements AutoCloseable {
    private static final int TYPE_A = 1;
    private static final int TYPE_AAAA = 28;
    private static final int NO_SUCH_NAME = 3;
    private static final int MOST_BYTES = 4096;

    /** What every question is answered. */
    public enum Mood {
        WELL,
        SERVER_FAILURE,
        NO_SUCH_NAME,
        SILENCE
    }

    private volatile Mood mood = Mood.WELL;
    private volatile String zone = "."; // no name ends so
    private volatile int zoneAddresses;

    private final Set<String> questions = ConcurrentHashMap.newKeySet();
    private final DatagramSocket socket =
            new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    private final Map<String, List<InetAddress>> ipv4 = new ConcurrentHashMap<>();
    private final Map<String, List<InetAddress>> ipv6 = new ConcurrentHashMap<>();

    public NameServer() throws IOException {
        Thread thread = new Thread(this::serve, "name-server");
        thread.setDaemon(true);
        thread.start();
    }

    public int port() {
        return socket.getLocalPort();
    }

    /** Gives a name its answers, of either family. */
    public NameServer answers(String name, String... addresses) throws IOException {
        for (String address : addresses) {
            InetAddress parsed = InetAddress.getByName(address);
            (parsed.getAddress().length == 4 ? ipv4 : ipv6)
                    .computeIfAbsent(name, key -> new ArrayList<>())
                    .add(parsed);
        }
        return this;
    }

    /** Answers all questions in some way from now on. */
    public void be(Mood next) {
        mood = next;
    }

    /** Gives every name of a zone so many private addresses, which hold for an hour. */
    public NameServer fills(String zoneName, int addresses) {
        zoneAddresses = addresses;
        zone = "." + zoneName;
        return this;
    }

    /** Returns the names that were asked for. */
    public Set<String> questions() {
        return questions;
    }

    private void serve() {
        byte[] buffer = new byte[512];
        try {
            while (true) {
                DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
                socket.receive(packet);
                if (mood == Mood.SILENCE) {
                    continue;
                }
                byte[] answer = answer(ByteBuffer.wrap(buffer, 0, packet.getLength()));
                socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
            }
        } catch (IOException e) {
            if (!socket.isClosed()) {
                throw new IllegalStateException(e);
            }
        }
    }

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
        String asked = name.toString();
        questions.add(asked);
        if (type == TYPE_A && asked.endsWith(zone)) {
            return filled(id, query.slice(12, questionEnd - 12));
        }
        if (mood != Mood.WELL) {
            return ByteBuffer.allocate(questionEnd)
                    .putShort(id)
                    .putShort((short) (0x8180 | (mood == Mood.NO_SUCH_NAME ? NO_SUCH_NAME : 2)))
                    .putShort((short) 1)
                    .putShort((short) 0)
                    .putInt(0)
                    .put(query.slice(12, questionEnd - 12))
                    .array();
        }
        boolean known = ipv4.containsKey(asked) || ipv6.containsKey(asked);
        List<InetAddress> addresses = (type == TYPE_A
                        ? ipv4
                        : type == TYPE_AAAA ? ipv6 : Map.<String, List<InetAddress>>of())
                .getOrDefault(asked, List.of());
        ByteBuffer out = ByteBuffer.allocate(512);
        out.putShort(id).putShort((short) (0x8180 | (known ? 0 : NO_SUCH_NAME)));
        out.putShort((short) 1).putShort((short) (addresses.isEmpty() ? 0 : 1)).putInt(0);
        out.put(query.slice(12, questionEnd - 12));
        if (!addresses.isEmpty()) {
            byte[] address = (addresses.size() > 1 ? addresses.remove(0) : addresses.get(0)).getAddress();
            out.putShort((short) 0xC00C)
                    .putShort((short) type)
                    .putShort((short) 1)
                    .putInt(0);
            out.putShort((short) address.length).put(address);
        }
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return bytes;
    }

    private byte[] filled(short id, ByteBuffer question) {
        ByteBuffer out = ByteBuffer.allocate(MOST_BYTES);
        out.putShort(id).putShort((short) 0x8180).putShort((short) 1).putShort((short) zoneAddresses);
        out.putInt(0).put(question);
        for (int i = 0; i < zoneAddresses; i++) {
            out.putShort((short) 0xC00C).putShort((short) TYPE_A).putShort((short) 1);
            out.putInt(3600).putShort((short) 4).putInt(0x0A000000 + i);
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
