package dev.gateway.tests.peer;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A name server on the loopback interface (RFC 1035) that may say something else each time: of a name's answers each is
 * given once, in turn, with no time to live; the last one again and again. It may also fail, say nothing, follow aliases,
 * have SRV records, or have answers for which a datagram is too short.
 */
public final class NameServer implements AutoCloseable {
    private static final int TYPE_A = 1;
    private static final int TYPE_CNAME = 5;
    private static final int TYPE_AAAA = 28;
    private static final int TYPE_SRV = 33;
    private static final int TRUNCATED = 0x0200;
    private static final int FORMAT_ERROR = 1;
    private static final int SERVER_FAILURE = 2;
    private static final int NO_SUCH_NAME = 3;
    private static final int ADDITIONAL_COUNT = 10; // its position in a message
    private static final int MOST_BYTES = 4096;
    private static final int MOST_IN_DATAGRAM = 200;

    /** What every question is answered. */
    public enum Mood {
        WELL,
        SERVER_FAILURE,
        NO_SUCH_NAME,
        SILENCE
    }

    /** Both kinds of sockets, at one port. */
    private record Bound(ServerSocket tcp, DatagramSocket datagrams) {
        static Bound now() throws IOException {
            InetAddress here = InetAddress.getLoopbackAddress();
            for (int attempt = 1; ; attempt++) {
                ServerSocket tcp = new ServerSocket(0, 50, here);
                try {
                    return new Bound(tcp, new DatagramSocket(new InetSocketAddress(here, tcp.getLocalPort())));
                } catch (SocketException e) { // the port is free for one kind only
                    tcp.close();
                    if (attempt == 20) {
                        throw e;
                    }
                }
            }
        }
    }

    private volatile Mood mood = Mood.WELL;
    private volatile boolean ipv4Fails;
    private volatile boolean plainOnly;
    private volatile int seconds; // the time to live of addresses and services
    private volatile String zone = "."; // no name ends so
    private volatile int zoneAddresses;

    private final AtomicInteger answered = new AtomicInteger();
    private final Set<String> questions = ConcurrentHashMap.newKeySet();
    private final ServerSocket tcp;
    private final DatagramSocket socket;
    private final AtomicInteger overTcp = new AtomicInteger();
    private final Set<String> refusedExtensions = ConcurrentHashMap.newKeySet();
    private final Map<String, String> aliases = new ConcurrentHashMap<>();
    private final Set<String> truncated = ConcurrentHashMap.newKeySet();
    private volatile boolean wholeChains = true;
    private final Map<String, List<InetAddress>> sets = new ConcurrentHashMap<>();
    private final Map<String, List<String>> services = new ConcurrentHashMap<>();
    private final Map<String, List<InetAddress>> ipv4 = new ConcurrentHashMap<>();
    private final Map<String, List<InetAddress>> ipv6 = new ConcurrentHashMap<>();

    public NameServer() throws IOException {
        Bound bound = Bound.now();
        tcp = bound.tcp;
        socket = bound.datagrams;
        start(this::serve);
        start(this::serveTcp);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "name-server");
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

    /** Makes a name an alias of another, which may be one itself. */
    public NameServer alias(String name, String target) {
        aliases.put(name, target);
        return this;
    }

    /** Answers for an alias with its target alone, as servers do that do not know the target's addresses. */
    public NameServer breaksChains() {
        wholeChains = false;
        return this;
    }

    /** Gives a name these addresses, all at a time from now on. */
    public NameServer has(String name, List<String> addresses) throws IOException {
        List<InetAddress> all = new ArrayList<>();
        for (String address : addresses) {
            all.add(InetAddress.getByName(address));
        }
        sets.put(name, all);
        return this;
    }

    /**
     * Gives a name these SRV records from now on, none for no such name.
     *
     * @param records such as {@code 10 60 8080 app-1.test}: priority, weight, port and target
     */
    public NameServer serves(String name, String... records) {
        services.put(name, List.of(records));
        return this;
    }

    /** Says of a name's answer that it is too long for a datagram. */
    public NameServer truncates(String name) {
        truncated.add(name);
        return this;
    }

    /** Returns how many questions came over TCP. */
    public int questionsOverTcp() {
        return overTcp.get();
    }

    /** Gives a name one address, of IPv4, and no other from now on. */
    public NameServer moves(String name, String address) throws IOException {
        ipv4.put(name, List.of(InetAddress.getByName(address)));
        return this;
    }

    /** Fails to answer for IPv4 addresses, or does no longer. */
    public void failForIpv4(boolean fails) {
        ipv4Fails = fails;
    }

    /** Answers FORMERR to questions with EDNS, as servers do that are older than RFC 2671. */
    public NameServer knowsNoExtensions() {
        plainOnly = true;
        return this;
    }

    /** Returns the names that were asked for with EDNS and got FORMERR. */
    public Set<String> refusedExtensions() {
        return refusedExtensions;
    }

    /** Gives all answers this time to live. */
    public NameServer holdFor(int timeToLive) {
        seconds = timeToLive;
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

    /** Returns how many answers were sent, of whatever kind. */
    public int answered() {
        return answered.get();
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
                byte[] answer = answer(ByteBuffer.wrap(buffer, 0, packet.getLength()), true);
                socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
                answered.incrementAndGet();
            }
        } catch (IOException e) {
            if (!socket.isClosed()) {
                throw new IllegalStateException(e);
            }
        }
    }

    private void serveTcp() {
        try {
            while (true) {
                try (Socket client = tcp.accept()) {
                    client.setSoTimeout(Peer.PATIENCE_MILLIS);
                    DataInputStream in = new DataInputStream(client.getInputStream());
                    byte[] query = new byte[in.readUnsignedShort()];
                    in.readFully(query);
                    overTcp.incrementAndGet();
                    byte[] answer = answer(ByteBuffer.wrap(query), false);
                    DataOutputStream out = new DataOutputStream(client.getOutputStream());
                    out.writeShort(answer.length);
                    out.write(answer);
                    out.flush();
                    in.read(); // whoever asked closes
                } catch (EOFException | SocketTimeoutException e) {
                    // it asked nothing, or nothing more
                }
            }
        } catch (IOException e) {
            if (!tcp.isClosed()) {
                throw new IllegalStateException(e);
            }
        }
    }

    private byte[] answer(ByteBuffer query, boolean datagram) {
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
        if (plainOnly && query.getShort(ADDITIONAL_COUNT) > 0) {
            refusedExtensions.add(asked);
            return failure(id, query.slice(12, questionEnd - 12), FORMAT_ERROR);
        }
        if (mood != Mood.WELL || (ipv4Fails && type == TYPE_A)) {
            return failure(
                    id, query.slice(12, questionEnd - 12), mood == Mood.NO_SUCH_NAME ? NO_SUCH_NAME : SERVER_FAILURE);
        }
        List<String> offered = type == TYPE_SRV ? services.getOrDefault(asked, List.of()) : List.of();
        if (!offered.isEmpty()) {
            return offered(id, query.slice(12, questionEnd - 12), offered);
        }
        ByteBuffer out = ByteBuffer.allocate(MOST_BYTES);
        List<InetAddress> set = sets.get(asked);
        if (set != null && !(datagram && set.size() > MOST_IN_DATAGRAM)) {
            int bytes = type == TYPE_A ? 4 : type == TYPE_AAAA ? 16 : 0;
            List<InetAddress> ofType = set.stream()
                    .filter(each -> each.getAddress().length == bytes)
                    .toList();
            return set(id, query.slice(12, questionEnd - 12), type, ofType);
        }
        if (datagram && (set != null || truncated.contains(asked))) {
            out.putShort(id).putShort((short) (0x8180 | TRUNCATED)).putShort((short) 1);
            out.putShort((short) 0).putInt(0).put(query.slice(12, questionEnd - 12));
            return bytes(out);
        }
        int records = 0;
        ByteBuffer answers = ByteBuffer.allocate(MOST_BYTES / 2);
        String owner = asked;
        String target = aliases.get(asked);
        boolean known = target != null;
        while (target != null) {
            answers.put(name(owner))
                    .putShort((short) TYPE_CNAME)
                    .putShort((short) 1)
                    .putInt(0);
            answers.putShort((short) name(target).length).put(name(target));
            records++;
            owner = target;
            target = wholeChains ? aliases.get(owner) : null;
        }
        if (owner.equals(asked) || wholeChains) {
            known |= ipv4.containsKey(owner) || ipv6.containsKey(owner);
            List<InetAddress> addresses = (type == TYPE_A
                            ? ipv4
                            : type == TYPE_AAAA ? ipv6 : Map.<String, List<InetAddress>>of())
                    .getOrDefault(owner, List.of());
            if (!addresses.isEmpty()) {
                byte[] address = (addresses.size() > 1 ? addresses.remove(0) : addresses.get(0)).getAddress();
                answers.put(name(owner))
                        .putShort((short) type)
                        .putShort((short) 1)
                        .putInt(seconds);
                answers.putShort((short) address.length).put(address);
                records++;
            }
        }
        out.putShort(id).putShort((short) (0x8180 | (known ? 0 : NO_SUCH_NAME)));
        out.putShort((short) 1).putShort((short) records).putInt(0);
        out.put(query.slice(12, questionEnd - 12)).put(answers.flip());
        return bytes(out);
    }

    private static byte[] failure(short id, ByteBuffer question, int code) {
        return ByteBuffer.allocate(12 + question.remaining())
                .putShort(id)
                .putShort((short) (0x8180 | code))
                .putShort((short) 1)
                .putShort((short) 0)
                .putInt(0)
                .put(question)
                .array();
    }

    /** Returns a name as a message has it. */
    private static byte[] name(String name) {
        ByteBuffer out = ByteBuffer.allocate(name.length() + 2);
        for (String label : name.split("\\.")) {
            out.put((byte) label.length()).put(label.getBytes(StandardCharsets.US_ASCII));
        }
        return out.put((byte) 0).array();
    }

    private static byte[] bytes(ByteBuffer out) {
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return bytes;
    }

    private byte[] set(short id, ByteBuffer question, int type, List<InetAddress> addresses) {
        ByteBuffer out = ByteBuffer.allocate(Short.MAX_VALUE);
        out.putShort(id).putShort((short) 0x8180).putShort((short) 1).putShort((short) addresses.size());
        out.putInt(0).put(question);
        for (InetAddress address : addresses) {
            byte[] bytes = address.getAddress();
            out.putShort((short) 0xC00C).putShort((short) type).putShort((short) 1);
            out.putInt(seconds).putShort((short) bytes.length).put(bytes);
        }
        return bytes(out);
    }

    private byte[] offered(short id, ByteBuffer question, List<String> records) {
        ByteBuffer out = ByteBuffer.allocate(MOST_BYTES);
        out.putShort(id).putShort((short) 0x8180).putShort((short) 1).putShort((short) records.size());
        out.putInt(0).put(question);
        for (String record : records) {
            String[] words = record.split(" ");
            byte[] target = words[3].equals(".") ? new byte[1] : name(words[3]);
            out.putShort((short) 0xC00C).putShort((short) TYPE_SRV).putShort((short) 1);
            out.putInt(seconds).putShort((short) (6 + target.length));
            for (int i = 0; i < 3; i++) {
                out.putShort((short) Integer.parseInt(words[i]));
            }
            out.put(target);
        }
        return bytes(out);
    }

    private byte[] filled(short id, ByteBuffer question) {
        ByteBuffer out = ByteBuffer.allocate(MOST_BYTES);
        out.putShort(id).putShort((short) 0x8180).putShort((short) 1).putShort((short) zoneAddresses);
        out.putInt(0).put(question);
        for (int i = 0; i < zoneAddresses; i++) {
            out.putShort((short) 0xC00C).putShort((short) TYPE_A).putShort((short) 1);
            out.putInt(3600).putShort((short) 4).putInt(0x0A000000 + i);
        }
        return bytes(out);
    }

    @Override
    public void close() throws IOException {
        socket.close(); // which ends the thread
        tcp.close();
    }
}
