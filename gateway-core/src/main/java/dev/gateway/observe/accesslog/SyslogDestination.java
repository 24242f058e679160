package dev.gateway.observe.accesslog;

import dev.gateway.config.observe.AccessLogConfig.Syslog;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A message of RFC 5424 for each line: a datagram (RFC 5426), or a part of a connection whose octets are counted (RFC
 * 6587), which is made again when it breaks, or when the receiver's name leads elsewhere. What a receiver had not read when a
 * connection broke is lost unseen.
 */
final class SyslogDestination implements LogDestination {
    private static final int NOTICE = 5;
    private static final int MAX_DATAGRAM = 65_000;
    private static final int CONNECT_MILLIS = 5_000;

    /** Least time between two looks at the addresses of the receiver. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT);

    private final Syslog receiver;
    private final boolean tcp;
    private final Clock clock = Clock.systemUTC();
    private final String priority;
    private final String origin;
    private final ReceiverAddresses addresses;
    private @Nullable ByteChannel channel;
    private @Nullable InetAddress peer; // of the channel
    private long lookedNanos;
    private boolean closed;

    SyslogDestination(Syslog receiver, ReceiverAddresses addresses) {
        this.receiver = receiver;
        this.tcp = receiver.transport() == Syslog.Transport.TCP;
        this.addresses = addresses;
        addresses.keep(receiver.host());
        this.priority = "<" + (receiver.facility() * 8 + NOTICE) + ">1 ";
        this.origin = " " + hostName() + " " + receiver.appName() + " "
                + ProcessHandle.current().pid() + " access - ";
    }

    private static String hostName() {
        try {
            String name = InetAddress.getLocalHost().getHostName();
            return name.matches("[!-~]{1,255}") ? name : "-";
        } catch (UnknownHostException e) {
            return "-"; // RFC 5424, section 6.2.4
        }
    }

    @Override
    public int write(byte[] lines, int length) throws IOException {
        byte[] header = (priority + TIME.format(clock.instant().atOffset(ZoneOffset.UTC)) + origin)
                .getBytes(StandardCharsets.US_ASCII);
        followReceiver();
        int lost = 0;
        int sent = 0;
        int start = 0;
        for (int i = 0; i < length; i++) {
            if (lines[i] != '\n') {
                continue;
            }
            try {
                boolean fits = tcp || header.length + i - start <= MAX_DATAGRAM;
                if (fits) {
                    send(message(header, lines, start, i));
                    sent++;
                } else {
                    lost++;
                }
            } catch (IOException e) {
                if (sent == 0) {
                    throw e;
                }
                return lost + count(lines, start, length); // those before have arrived
            }
            start = i + 1;
        }
        return lost;
    }

    private static int count(byte[] lines, int from, int to) {
        int count = 0;
        for (int i = from; i < to; i++) {
            count += lines[i] == '\n' ? 1 : 0;
        }
        return count;
    }

    private ByteBuffer message(byte[] header, byte[] lines, int start, int end) {
        int length = header.length + end - start;
        byte[] counted = tcp ? (length + " ").getBytes(StandardCharsets.US_ASCII) : new byte[0];
        return ByteBuffer.allocate(counted.length + length)
                .put(counted)
                .put(header)
                .put(lines, start, end - start)
                .flip();
    }

    /** Leaves a receiver whose name does not lead there any more. */
    private void followReceiver() throws IOException {
        if (channel == null || System.nanoTime() - lookedNanos < LOOK_NANOS) {
            return;
        }
        lookedNanos = System.nanoTime();
        List<InetAddress> now;
        try {
            now = addresses.of(receiver.host());
        } catch (IOException e) {
            return; // as long as nobody says otherwise, it is where it was
        }
        if (!now.contains(peer)) {
            disconnect();
        }
    }

    private void send(ByteBuffer message) throws IOException {
        if (channel != null) {
            try {
                write(channel, message);
                return;
            } catch (IOException e) {
                disconnect(); // the receiver was started again, or has told by ICMP that it was away
                addresses.doubt(receiver.host());
                message.rewind();
            }
        }
        ByteChannel fresh = connect();
        channel = fresh;
        write(fresh, message);
    }

    /** Connects to the first address of the receiver where that is possible. */
    private ByteChannel connect() throws IOException {
        IOException failure = null;
        for (InetAddress address : addresses.of(receiver.host())) {
            try {
                ByteChannel connected = connect(new InetSocketAddress(address, receiver.port()));
                peer = address;
                lookedNanos = System.nanoTime();
                return connected;
            } catch (IOException e) {
                failure = e;
            }
        }
        addresses.doubt(receiver.host());
        throw failure == null ? new UnknownHostException(receiver.host()) : failure;
    }

    private static void write(ByteChannel to, ByteBuffer message) throws IOException {
        while (message.hasRemaining()) {
            to.write(message);
        }
    }

    private ByteChannel connect(InetSocketAddress address) throws IOException {
        if (tcp) {
            SocketChannel opened = SocketChannel.open();
            return connected(opened, () -> opened.socket().connect(address, CONNECT_MILLIS));
        }
        DatagramChannel opened = DatagramChannel.open();
        return connected(opened, () -> opened.connect(address));
    }

    private interface Connecting {
        void connect() throws IOException;
    }

    private static ByteChannel connected(ByteChannel opened, Connecting connecting) throws IOException {
        try {
            connecting.connect();
            return opened;
        } catch (IOException | RuntimeException e) { // such as an address of a family that is turned off
            opened.close();
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        if (!closed) {
            closed = true;
            addresses.drop(receiver.host());
        }
        disconnect();
    }

    private void disconnect() throws IOException {
        ByteChannel open = channel;
        channel = null;
        if (open != null) {
            open.close();
        }
    }
}
