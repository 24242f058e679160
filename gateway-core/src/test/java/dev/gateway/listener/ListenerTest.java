package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.format.Cidr;
import dev.gateway.format.CidrSet;
import dev.gateway.net.ProxyProtocol;
import dev.gateway.stream.SourceAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class ListenerTest {
    private static final String PROXY_LINE = "PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n";

    @TempDir
    Path directory;

    private final ListenerRig rig = new ListenerRig();

    @AfterEach
    void stop() throws Exception {
        rig.stop();
    }

    /** That nothing has leaked is seen after the last test. */
    @Test
    void whatFollowedARequestIsReleasedIfItsUpgradeFails() throws Exception {
        rig.h2cUpgrade = true;
        Listener listener = rig.listen();
        try (Socket client = ListenerRig.connect(listener)) {
            client.getOutputStream()
                    .write(("GET /defect HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                                    + "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\nPRI * HTTP/2.0")
                            .getBytes(StandardCharsets.US_ASCII));
            client.getInputStream().readAllBytes();
        }
        ListenerRig.awaitConnections(listener, 0);
    }

    private static final String H2C = String.join(
            "\r\n",
            "GET /x HTTP/1.1",
            "Host: a.test",
            "Connection: Upgrade, HTTP2-Settings",
            "Upgrade: h2c",
            "HTTP2-Settings: AAMAAABk",
            "",
            "");

    @Test
    void aClientOfItsOwnMayUpgradeToHttp2() throws Exception {
        rig.h2cUpgrade = true;
        rig.trustedProxies = ip -> !ip.isLoopbackAddress();
        rig.proxyProtocol = new ProxyProtocol(CidrSet.EMPTY, ListenerRig.PATIENCE_MILLIS);
        try (Socket client = ListenerRig.connect(rig.listen())) {
            Clients.send(client, H2C);
            assertThat(Clients.head(client.getInputStream())).startsWith("HTTP/1.1 101 ");
        }
    }

    /** Its client would leave it, and send further requests in its name. */
    @Test
    void aTrustedProxyGetsAnOrdinaryResponseInsteadOfAnUpgrade() throws Exception {
        rig.h2cUpgrade = true;
        rig.trustedProxies = InetAddress::isLoopbackAddress;
        assertOrdinary("");
    }

    @ParameterizedTest
    @ValueSource(strings = {PROXY_LINE, "PROXY UNKNOWN\r\n"})
    void soDoesOneThatSpeaksTheProxyProtocol(String line) throws Exception {
        rig.h2cUpgrade = true;
        rig.proxyProtocol = trustingLoopback();
        assertOrdinary(line);
    }

    private void assertOrdinary(String before) throws IOException {
        try (Socket client = ListenerRig.connect(rig.listen())) {
            Clients.send(client, before + H2C);
            assertThat(Clients.response(client.getInputStream())).startsWith("HTTP/1.1 200 ");
            assertThat(Clients.exchange(client, "/")).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void soDoesWhoeverConnectsToASocketFile() throws Exception {
        rig.h2cUpgrade = true;
        Path file = directory.resolve("h2c.sock");
        listenOn(file);
        try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(file))) {
            client.write(ByteBuffer.wrap(H2C.getBytes(StandardCharsets.US_ASCII)));
            assertThat(Clients.response(Channels.newInputStream(client))).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void aConnectionOverTheLimitIsRefusedUntilAnotherCloses() throws Exception {
        rig.maxConnections = 2;
        Listener listener = rig.listen();
        try (Socket one = ListenerRig.connect(listener);
                Socket two = ListenerRig.connect(listener);
                Socket three = connectAfter(listener, one, two)) {
            assertThat(Clients.rest(three)).isEmpty();
            rig.awaitEvent("refused");
            assertThat(listener.connections()).isEqualTo(2);
            one.shutdownOutput();
            ListenerRig.awaitConnections(listener, 1);
            try (Socket four = ListenerRig.connect(listener)) {
                assertThat(Clients.exchange(four, "/")).startsWith("HTTP/1.1 200 ");
            }
            assertThat(Clients.exchange(two, "/")).startsWith("HTTP/1.1 200 ");
        }
        ListenerRig.awaitConnections(listener, 0);
    }

    private static Socket connectAfter(Listener listener, Socket... served) throws IOException {
        for (Socket each : served) {
            assertThat(Clients.exchange(each, "/")).startsWith("HTTP/1.1 200 ");
        }
        return ListenerRig.connect(listener);
    }

    // Socket files.

    @Test
    void aSocketFileThatNobodyListensOnIsReplacedAndRemovedAtTheEnd() throws Exception {
        Path file = directory.resolve("gateway.sock");
        server(file).close(); // leaves its file, as a process does that was killed
        assertThat(file).exists();
        Listener listener = listenOn(file);
        try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(file))) {
            client.write(ByteBuffer.wrap(Clients.get("/").getBytes(StandardCharsets.US_ASCII)));
            assertThat(Clients.response(Channels.newInputStream(client)))
                    .startsWith("HTTP/1.1 200 ")
                    .contains("peer=unix local=null");
        }
        listener.stopAccepting();
        assertThat(file).doesNotExist();
    }

    @Test
    void aSocketFileInUseIsLeftToItsOwner() throws Exception {
        Path file = directory.resolve("gateway.sock");
        try (ServerSocketChannel owner = server(file)) {
            assertThatThrownBy(() -> listenOn(file))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("web")
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("another process listens on it");
            try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(file))) {
                assertThat(client.isConnected()).isTrue();
            }
            assertThat(owner.isOpen()).isTrue();
        }
    }

    @Test
    void aFileThatIsNoSocketIsNotTouched() throws Exception {
        Path file = Files.writeString(directory.resolve("precious.txt"), "precious");
        assertThatThrownBy(() -> listenOn(file)).hasMessageContaining("not a socket");
        assertThat(file).hasContent("precious");
    }

    @Test
    void aSuccessorsSocketFileOutlivesAListenerWithoutReusePort() throws Exception {
        Path file = directory.resolve("gateway.sock");
        Listener first = listenOn(file);
        Files.delete(file);
        try (ServerSocketChannel successor = server(file)) {
            first.stopAccepting();
            assertThat(file).exists();
            assertThat(successor.isOpen()).isTrue();
        }
    }

    @Test
    void aSocketFileIsBoundBySomebodyBeforeAnythingIsAccepted() throws Exception {
        rig.bound = UnixDomainSocketAddress.of(directory.resolve("gateway.sock"));
        rig.bind();
        assertThatThrownBy(rig::bind).hasMessageContaining("another process listens on it");
        assertThat(directory).isDirectoryContaining("glob:**/gateway.sock");
        assertThat(directory.toFile().list()).hasSize(1);
    }

    @Test
    void withReusePortASocketFileIsTakenOverAndLeftToItsNewOwner() throws Exception {
        Path file = directory.resolve("gateway.sock");
        rig.reusePort = true;
        Listener first = listenOn(file);
        try (ServerSocketChannel stranger = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            Files.delete(file);
            stranger.bind(UnixDomainSocketAddress.of(file));
            Listener second = listenOn(file);
            first.stopAccepting();
            try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(file))) {
                client.write(ByteBuffer.wrap(Clients.get("/").getBytes(StandardCharsets.US_ASCII)));
                assertThat(Clients.response(Channels.newInputStream(client))).startsWith("HTTP/1.1 200 ");
            }
            second.stopAccepting();
        }
        assertThat(directory).isEmptyDirectory();
    }

    private static ServerSocketChannel server(Path file) throws IOException {
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(file));
    }

    private Listener listenOn(Path file) throws IOException {
        rig.bound = UnixDomainSocketAddress.of(file);
        return rig.listen();
    }

    // Ports.

    @Test
    void aPortInUseIsAnErrorThatNamesListenerAndAddress() throws Exception {
        Listener first = rig.listen();
        rig.bound = (InetSocketAddress) first.address();
        assertThatThrownBy(rig::listen)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("web")
                .hasMessageContaining("127.0.0.1:" + ((InetSocketAddress) first.address()).getPort());
    }

    @Test
    void withReusePortEveryLoopListensOnTheSamePort() throws Exception {
        Assumptions.assumeTrue(rig.transport.canSharePort() && Files.isReadable(Path.of("/proc/net/tcp")));
        rig.reusePort = true;
        Listener listener = rig.listen();
        int port = ((InetSocketAddress) listener.address()).getPort();
        assertThat(listeningSockets(port)).isEqualTo(2);
        try (Socket socket = ListenerRig.connect(listener)) {
            assertThat(Clients.exchange(socket, "/")).startsWith("HTTP/1.1 200 ");
        }
        listener.stopAccepting();
        assertThatThrownBy(() -> ListenerRig.connect(listener)).isInstanceOf(IOException.class);
    }

    @Test
    void withReusePortWhoWasThereBeforeHasAllConnectionsUntilThisOneAccepts() throws Exception {
        Assumptions.assumeTrue(rig.transport.canSharePort() && Files.isReadable(Path.of("/proc/net/tcp")));
        rig.reusePort = true;
        try (ServerSocketChannel earlier = ServerSocketChannel.open()) {
            earlier.setOption(StandardSocketOptions.SO_REUSEPORT, true);
            earlier.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
            rig.bound = (InetSocketAddress) earlier.getLocalAddress();
            Listener listener = rig.bind();
            for (int i = 0; i < 30; i++) {
                ListenerRig.connect(listener).close();
            }
            for (int i = 0; i < 30; i++) {
                earlier.accept().close(); // waits for ever if it was another's
            }
        }
    }

    @ParameterizedTest(name = "{0} event loops, then {1}")
    @CsvSource({"2, 2", "2, 3", "3, 2", "4, 2", "3, 1"})
    void noConnectionIsResetWhenAPortIsLeftToAnother(int loops, int others) throws Exception {
        ListenerRig former = new ListenerRig(loops);
        ListenerRig latter = new ListenerRig(others);
        try {
            Assumptions.assumeTrue(former.transport.canSharePort() && Files.isReadable(Path.of("/proc/net/tcp")));
            former.reusePort = true;
            Listener first = former.listen();
            try (Hammer hammer = new Hammer((InetSocketAddress) first.address())) {
                hammer.awaitAnswers(50);
                latter.reusePort = true;
                latter.bound = (InetSocketAddress) first.address();
                latter.listen();
                hammer.awaitAnswers(50);
                assertThat(first.giveWay()).isTrue();
                hammer.awaitAnswers(50); // among them whose handshake had begun before
                first.stopAccepting();
                hammer.awaitAnswers(50);
                assertThat(hammer.failures()).isEmpty();
            }
        } finally {
            former.stop();
            latter.stop();
        }
    }

    @ParameterizedTest(name = "{0} event loops, then {1} that leave")
    @CsvSource({"2, 2", "2, 3", "3, 1"})
    void noConnectionIsResetWhenWhoCameLastLeavesThePort(int loops, int leaving) throws Exception {
        ListenerRig former = new ListenerRig(loops);
        ListenerRig latter = new ListenerRig(leaving);
        try {
            Assumptions.assumeTrue(former.transport.canSharePort() && Files.isReadable(Path.of("/proc/net/tcp")));
            former.reusePort = true;
            Listener first = former.listen();
            try (Hammer hammer = new Hammer((InetSocketAddress) first.address())) {
                latter.reusePort = true;
                latter.bound = (InetSocketAddress) first.address();
                Listener second = latter.listen();
                hammer.awaitAnswers(50);
                assertThat(second.giveWay()).isTrue();
                second.turnAway();
                second.acceptRest(TimeUnit.SECONDS.toNanos(10)).join(); // also those whose handshake had begun before
                second.stopAccepting();
                hammer.awaitAnswers(50);
                assertThat(hammer.failures()).isEmpty();
            }
        } finally {
            former.stop();
            latter.stop();
        }
    }

    private static long listeningSockets(int port) throws IOException {
        Pattern listening = Pattern.compile(String.format(Locale.ROOT, ":%04X 0+:0000 0A ", port));
        long count = 0;
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            if (Files.isReadable(Path.of(table))) {
                try (Stream<String> lines = Files.lines(Path.of(table))) {
                    count += lines.filter(listening.asPredicate()).count();
                }
            }
        }
        return count;
    }

    // What is spoken.

    @Test
    void aPrefaceThatDoesNotGoOnIsClosed() throws Exception {
        rig.requestHeadersMillis = 100;
        Listener listener = rig.listen();
        try (Socket socket = ListenerRig.connect(listener)) {
            Clients.send(socket, "PRI * HT");
            assertThat(Clients.rest(socket)).isEmpty();
            rig.awaitEvent("violation slow_headers");
        }
    }

    @Test
    void aConnectionThatSaysNothingIsClosedAsIdle() throws Exception {
        rig.idleMillis = 100;
        Listener listener = rig.listen();
        try (Socket socket = ListenerRig.connect(listener)) {
            assertThat(Clients.rest(socket)).isEmpty();
            rig.awaitEvent("idle closed");
        }
    }

    @Test
    void aPrefaceInPiecesIsHttp2AndWhatOnlyBeginsLikeItIsNot() throws Exception {
        Listener listener = rig.listen();
        try (Socket socket = ListenerRig.connect(listener)) {
            socket.setTcpNoDelay(true);
            Clients.send(socket, "PRI * ");
            Clients.send(socket, "HTTP/2.0\r\n\r\nSM\r\n\r\n");
            Clients.settings(socket);
            Clients.h2Get(socket, 1);
            assertThat(Clients.frames(socket, Clients.DATA)).contains("peer=127.0.0.1");
        }
        rig.awaitEvent("opened HTTP_2");
        try (Socket socket = ListenerRig.connect(listener)) {
            Clients.send(socket, "PRI");
            Clients.send(socket, "NT / HTTP/1.1\r\nHost: a.test\r\n\r\n");
            assertThat(Clients.response(socket.getInputStream())).startsWith("HTTP/1.1 200 ");
        }
        rig.awaitEvent("opened HTTP_1_1");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void httpOnATlsPortIsToldSo(int certificates) throws Exception {
        rig.tls = Clients.serverTls(directory, certificates);
        Listener listener = rig.listen();
        try (Socket socket = ListenerRig.connect(listener)) {
            Clients.send(socket, Clients.get("/"));
            String said = Clients.rest(socket);
            assertThat(said).startsWith("HTTP/1.1 400 ").contains("Connection: close", "https://");
            int body = said.indexOf("\r\n\r\n") + 4;
            assertThat(said).contains("Content-Length: " + (said.length() - body));
        }
        rig.awaitEvent("violation cleartext_on_tls");
    }

    // Whose connection it is.

    @Test
    void theProxyProtocolTellsTheClient() throws Exception {
        rig.proxyProtocol = trustingLoopback();
        Listener listener = rig.listen();
        try (Socket socket = ListenerRig.connect(listener)) {
            Clients.send(socket, PROXY_LINE + Clients.get("/held"));
            ListenerRig.Call call = rig.heldCall();
            assertThat(call.stream().connection().client())
                    .isEqualTo(SourceAddress.of(new InetSocketAddress("192.0.2.7", 4711)));
            assertThat(call.stream().connection().peer().port()).isEqualTo(socket.getLocalPort());
            assertThat(call.stream().connection().local()).isEqualTo(new InetSocketAddress("198.51.100.1", 443));
            call.answer();
            assertThat(Clients.response(socket.getInputStream())).contains("peer=192.0.2.7 ", "tls=false");
        }
    }

    @Test
    void anIpv6ClientIsNamedInItsShortForm() throws Exception {
        rig.proxyProtocol = trustingLoopback();
        Listener listener = rig.listen();
        try (Socket socket = ListenerRig.connect(listener)) {
            Clients.send(socket, "PROXY TCP6 2001:db8:0:0:0:0:0:7 2001:db8::1 4711 443\r\n" + Clients.get("/"));
            assertThat(Clients.response(socket.getInputStream())).contains("peer=2001:db8::7 ");
        }
    }

    @Test
    void theProxyProtocolComesBeforeTls() throws Exception {
        rig.proxyProtocol = trustingLoopback();
        rig.tls = Clients.serverTls(directory, 1);
        Listener listener = rig.listen();
        try (Socket socket = ListenerRig.connect(listener)) {
            Clients.send(socket, PROXY_LINE);
            try (SSLSocket tls = Clients.tls(socket, directory, "http/1.1")) {
                assertThat(Clients.exchange(tls, "/")).contains("peer=192.0.2.7 ", "198.51.100.1:443", "tls=true");
            }
        }
    }

    @Test
    void aTrustedPeerWithoutTheProxyProtocolIsRefused() throws Exception {
        rig.proxyProtocol = trustingLoopback();
        Listener listener = rig.listen();
        try (Socket socket = ListenerRig.connect(listener)) {
            Clients.send(socket, Clients.get("/"));
            assertThat(Clients.rest(socket)).isEmpty();
            rig.awaitEvent("violation proxy_protocol");
        }
    }

    private static ProxyProtocol trustingLoopback() {
        Cidr loopback = Objects.requireNonNull(Cidr.parse("127.0.0.0/8"));
        return new ProxyProtocol(CidrSet.of(List.of(loopback)), ListenerRig.PATIENCE_MILLIS);
    }
}
