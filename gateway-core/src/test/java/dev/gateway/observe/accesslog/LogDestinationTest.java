package dev.gateway.observe.accesslog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.config.observe.AccessLogConfig.Choice;
import dev.gateway.config.observe.AccessLogConfig.Exchanges;
import dev.gateway.config.observe.AccessLogConfig.Format;
import dev.gateway.config.observe.AccessLogConfig.Lines;
import dev.gateway.config.observe.AccessLogConfig.Redact;
import dev.gateway.config.observe.AccessLogConfig.Rotation;
import dev.gateway.config.observe.AccessLogConfig.Syslog;
import dev.gateway.config.observe.AccessLogConfig.Target;
import dev.gateway.config.value.Position;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.Records;
import dev.gateway.time.TimerWheel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Where lines of the access log go, and what becomes of them when that changes. */
class LogDestinationTest {
    private static final String RFC_5424 =
            "<133>1 \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z \\S+ edge \\d+ access - ";
    private static final int WAIT_MILLIS = 10_000;

    private static byte[] bytes(String lines) {
        return lines.getBytes(StandardCharsets.US_ASCII);
    }

    /** Writes lines that are followed by what does not count. */
    private static int write(LogDestination log, String lines) throws IOException {
        return log.write(bytes(lines + "left from before\n"), lines.length());
    }

    private static Target syslog(int port, boolean tcp) {
        return syslog("127.0.0.1", port, tcp);
    }

    private static Target syslog(String host, int port, boolean tcp) {
        Syslog.Transport transport = tcp ? Syslog.Transport.TCP : Syslog.Transport.UDP;
        return new Target(null, null, new Syslog(Position.NOWHERE, host, port, transport, 16, "edge"));
    }

    private static Rotation rotation(long maxSize, int maxFiles) {
        return new Rotation(Position.NOWHERE, maxSize, maxFiles, Duration.ZERO);
    }

    @Test
    void aFileThatIsFullIsPutAsideAndOnlySoManyAreKept(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("access.log");
        try (LogDestination log = new FileDestination(file, rotation(10, 2), System::nanoTime)) {
            for (String line : List.of("aaaaaaa\n", "bbbbbbb\n", "ccccccc\n", "ddddddd\n")) {
                write(log, line);
            }
        }
        assertThat(file).hasContent("ddddddd\n");
        assertThat(directory.resolve("access.log.1")).hasContent("ccccccc\n");
        assertThat(directory.resolve("access.log.2")).hasContent("bbbbbbb\n");
        assertThat(directory.resolve("access.log.3")).doesNotExist();
    }

    @Test
    void aFileThatWasTakenAwayIsMadeAnew(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("access.log");
        try (LogDestination log = new FileDestination(file, rotation(10, 2), System::nanoTime)) {
            write(log, "aaaaaaa\n");
            Files.delete(file);
            write(log, "bbbbbbb\n");
            write(log, "ccccccc\n");
        }
        assertThat(file).hasContent("ccccccc\n");
        assertThat(directory.resolve("access.log.1")).hasContent("bbbbbbb\n");
        assertThat(directory.resolve("access.log.2")).doesNotExist();
    }

    /** The first lines fill the pipe, and the writer's thread waits; the next ones fill the queue. */
    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aPipeThatNobodyReadsHoldsUpNobody(@TempDir Path directory) throws Exception {
        Path pipe = directory.resolve("access.log");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        LogDestination log = new FileDestination(pipe, null, System::nanoTime);
        log.reopen();
        AtomicLong dropped = new AtomicLong();
        byte[] lines = bytes("0123456789abcde\n".repeat(1024));
        int offered = 0;
        try (LogWriter writer = new LogWriter(log, new LogWriter.Limits(4, 100), dropped);
                InputStream reader = Files.newInputStream(pipe)) {
            for (; dropped.get() == 0; offered++) {
                writer.offer(lines.clone(), lines.length, 1024);
            }
            writer.reopen();
            assertThat(reader.readNBytes(lines.length)).isEqualTo(lines);
        }
        assertThat(dropped.get()).isPositive().isLessThan(offered * 1024L);
    }

    @Test
    void theWriterOutlivesWhatADestinationThrows() {
        AtomicLong dropped = new AtomicLong();
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        LogDestination log = new LogDestination() {
            @Override
            public int write(byte[] lines, int length) {
                if (lines[0] == '!') {
                    throw new UnsupportedAddressTypeException();
                }
                written.write(lines, 0, length);
                return 0;
            }

            @Override
            public void close() {}
        };
        try (LogWriter writer = new LogWriter(log, LogWriter.Limits.DEFAULT, dropped)) {
            writer.offer(bytes("!\n!\n"), 4, 2);
            writer.offer(bytes("a\n"), 2, 1);
        }
        assertThat(written.toString(StandardCharsets.US_ASCII)).isEqualTo("a\n");
        assertThat(dropped).hasValue(2);
    }

    @Test
    void aFileThatIsOldIsPutAside(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("access.log");
        long[] now = {0};
        try (LogDestination log = new FileDestination(
                file, new Rotation(Position.NOWHERE, 0, 1, Duration.ofNanos(1_000)), () -> now[0])) {
            write(log, "a\n");
            now[0] = 1_000;
            write(log, "b\n");
            now[0] = 1_001;
            write(log, "c\n");
        }
        assertThat(directory.resolve("access.log.1")).hasContent("a\nb\n");
        assertThat(file).hasContent("c\n");
    }

    @Test
    void aFileThatCannotBePutAsideGoesOn(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("access.log");
        Files.createDirectories(directory.resolve("access.log.1/full"));
        try (LogDestination log = new FileDestination(file, rotation(4, 1), System::nanoTime)) {
            write(log, "aaa\n");
            write(log, "bbb\n");
            write(log, "ccc\n");
        }
        assertThat(file).hasContent("aaa\nbbb\nccc\n");
    }

    @Test
    void eachLineIsADatagram() throws IOException {
        try (DatagramSocket receiver = new DatagramSocket(0, InetAddress.getLoopbackAddress());
                LogDestination log = AccessLog.open(
                        syslog(receiver.getLocalPort(), false),
                        OutputStream.nullOutputStream(),
                        ReceiverAddresses.OF_MACHINE)) {
            receiver.setSoTimeout(WAIT_MILLIS);
            assertThat(write(log, "one\n" + "x".repeat(70_000) + "\ntwo\n")).isEqualTo(1);
            assertThat(receive(receiver)).matches(RFC_5424 + "one");
            assertThat(receive(receiver)).matches(RFC_5424 + "two");
        }
    }

    private static String receive(DatagramSocket receiver) throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[2048], 2048);
        receiver.receive(packet);
        return new String(packet.getData(), 0, packet.getLength(), StandardCharsets.US_ASCII);
    }

    @Test
    void octetsAreCountedOnAConnection() throws IOException {
        try (ServerSocket receiver = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                LogDestination log = AccessLog.open(
                        syslog(receiver.getLocalPort(), true),
                        OutputStream.nullOutputStream(),
                        ReceiverAddresses.OF_MACHINE)) {
            assertThat(write(log, "one\ntwo two\n")).isZero();
            try (Socket accepted = receiver.accept()) {
                accepted.setSoTimeout(WAIT_MILLIS);
                assertThat(frame(accepted.getInputStream())).matches(RFC_5424 + "one");
                assertThat(frame(accepted.getInputStream())).matches(RFC_5424 + "two two");
            }
        }
    }

    private static String frame(InputStream in) throws IOException {
        StringBuilder length = new StringBuilder();
        for (int c = in.read(); c != ' '; c = in.read()) {
            length.append((char) c);
        }
        return new String(in.readNBytes(Integer.parseInt(length.toString())), StandardCharsets.US_ASCII);
    }

    @Test
    void aConnectionThatBreaksIsMadeAnew() throws IOException {
        try (ServerSocket receiver = new ServerSocket(0, 2, InetAddress.getLoopbackAddress());
                LogDestination log = AccessLog.open(
                        syslog(receiver.getLocalPort(), true),
                        OutputStream.nullOutputStream(),
                        ReceiverAddresses.OF_MACHINE)) {
            write(log, "one\n");
            Socket first = receiver.accept();
            frame(first.getInputStream());
            first.setSoLinger(true, 0);
            first.close();
            // What is written before the reset is heard of is lost, as the protocol has it.
            receiver.setSoTimeout(1);
            @Nullable Socket second = null;
            for (int i = 0; second == null && i < 10_000; i++) {
                write(log, "again\n");
                second = acceptedOrNull(receiver);
            }
            if (second == null) {
                throw new AssertionError("no other connection was made");
            }
            second.setSoTimeout(WAIT_MILLIS);
            assertThat(frame(second.getInputStream())).endsWith(" again");
            second.close();
        }
    }

    private static @Nullable Socket acceptedOrNull(ServerSocket receiver) throws IOException {
        try {
            return receiver.accept();
        } catch (SocketTimeoutException e) {
            return null;
        }
    }

    /** A name that leads where a test says. */
    private static final class Moving implements ReceiverAddresses {
        private volatile String address = "127.0.8.1";
        private int doubts;
        private int kept;

        @Override
        public List<InetAddress> of(String host) throws IOException {
            return List.of(InetAddress.getByName(address));
        }

        @Override
        public void keep(String host) {
            kept++;
        }

        @Override
        public void drop(String host) {
            kept--;
        }

        @Override
        public void doubt(String host) {
            doubts++;
        }
    }

    private static LogDestination open(Moving addresses, int port, boolean tcp) throws IOException {
        return AccessLog.open(syslog("log.test", port, tcp), OutputStream.nullOutputStream(), addresses);
    }

    @Test
    void datagramsFollowTheNameOfTheReceiver() throws IOException {
        Moving addresses = new Moving();
        try (DatagramSocket former = new DatagramSocket(0, InetAddress.getByName("127.0.8.1"));
                DatagramSocket present = new DatagramSocket(former.getLocalPort(), InetAddress.getByName("127.0.8.2"));
                LogDestination log = open(addresses, former.getLocalPort(), false)) {
            assertThat(addresses.kept).isOne();
            write(log, "one\n");
            former.setSoTimeout(WAIT_MILLIS);
            assertThat(receive(former)).endsWith(" one");
            addresses.address = "127.0.8.2";
            present.setSoTimeout(10);
            String received = null;
            for (int i = 0; received == null && i < 3_000; i++) {
                write(log, "two\n");
                received = receivedOrNull(present);
            }
            assertThat(received).endsWith(" two");
        }
        assertThat(addresses.kept).isZero();
    }

    private static @Nullable String receivedOrNull(DatagramSocket receiver) throws IOException {
        try {
            return receive(receiver);
        } catch (SocketTimeoutException e) {
            return null;
        }
    }

    @Test
    void aConnectionFollowsTheNameOfTheReceiver() throws IOException {
        Moving addresses = new Moving();
        try (ServerSocket former = new ServerSocket(0, 1, InetAddress.getByName("127.0.8.1"));
                ServerSocket present = new ServerSocket(former.getLocalPort(), 1, InetAddress.getByName("127.0.8.2"));
                LogDestination log = open(addresses, former.getLocalPort(), true)) {
            write(log, "one\n");
            try (Socket first = former.accept()) {
                assertThat(frame(first.getInputStream())).endsWith(" one");
                addresses.address = "127.0.8.2";
                present.setSoTimeout(10);
                Socket second = null;
                for (int i = 0; second == null && i < 3_000; i++) {
                    write(log, "two\n");
                    second = acceptedOrNull(present);
                }
                if (second == null) {
                    throw new AssertionError("no other connection was made");
                }
                second.setSoTimeout(WAIT_MILLIS);
                assertThat(frame(second.getInputStream())).endsWith(" two");
                second.close();
            }
        }
    }

    @Test
    void aReceiverThatRefusesPutsItsNameInDoubt() throws IOException {
        Moving addresses = new Moving();
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getByName("127.0.8.2"));
                LogDestination log = open(addresses, other.getLocalPort(), true)) {
            assertThatThrownBy(() -> write(log, "one\n")).isInstanceOf(IOException.class);
            assertThat(addresses.doubts).isOne();
            addresses.address = "127.0.8.2";
            assertThat(write(log, "two\n")).isZero();
        }
    }

    @Test
    void whereNobodyListensLinesAreLostAndThatIsSaid() throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = closed.getLocalPort();
        }
        try (LogDestination log =
                AccessLog.open(syslog(port, true), OutputStream.nullOutputStream(), ReceiverAddresses.OF_MACHINE)) {
            assertThatThrownBy(() -> write(log, "one\n")).isInstanceOf(IOException.class);
        }
    }

    @Test
    void noLineIsLostWhenPlaceAndLookChange(@TempDir Path directory) throws Exception {
        Path before = directory.resolve("before.log");
        Path after = directory.resolve("after.log");
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
        AccessLog log = new AccessLog(ReceiverAddresses.OF_MACHINE);
        try {
            ExchangeObserver loop = log.newLoop(new TimerWheel(thread));
            prepare(log, Format.COMBINED, before).commit();
            complete(thread, loop, "/1");
            prepare(log, Format.JSON, after).commit();
            assertThat(before).content().contains("\"GET /1 HTTP/1.1\"").hasLineCount(1);
            complete(thread, loop, "/2");
            prepare(log, Format.COMBINED, after).commit();
            complete(thread, loop, "/3");
            prepare(log, Format.OFF, null).commit();
            complete(thread, loop, "/4");
        } finally {
            thread.shutdown();
            assertThat(thread.awaitTermination(WAIT_MILLIS, TimeUnit.MILLISECONDS))
                    .isTrue();
            log.close();
        }
        assertThat(Files.readAllLines(after))
                .satisfiesExactly(line -> assertThat(line).contains("\"path\":\"/2\""), line -> assertThat(line)
                        .contains("\"GET /3 HTTP/1.1\""));
        assertThat(log.dropped()).isZero();
    }

    @Test
    void aPlaceThatCannotBeOpenedChangesNothing(@TempDir Path directory) throws Exception {
        AccessLog log = new AccessLog(ReceiverAddresses.OF_MACHINE);
        Path nowhere = directory.resolve("missing/access.log");
        assertThatThrownBy(() -> prepare(log, Format.COMBINED, nowhere)).isInstanceOf(IOException.class);
        log.close();
    }

    private static void complete(ScheduledExecutorService thread, ExchangeObserver loop, String path) {
        CompletableFuture.runAsync(() -> loop.onCompleted(Records.record(path, 200, null)), thread)
                .join();
    }

    private static AccessLog.Change prepare(AccessLog log, Format format, @Nullable Path file) throws IOException {
        AccessLogConfig config = new AccessLogConfig(
                Position.NOWHERE,
                Lines.of(format),
                new Target(file, null, null),
                new Choice(Exchanges.ALL, 1.0),
                new Redact(Position.NOWHERE, List.of(), List.of()));
        return log.prepare(config, new Redaction(Redaction.Hidden.NOTHING), OutputStream.nullOutputStream());
    }
}
