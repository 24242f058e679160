package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Behind a proxy that relays bytes, upstreams learn the client's address from its PROXY protocol header. */
class ProxyProtocolIT {
    private static final int LOCAL = 0x20;
    private static final int PROXY = 0x21;
    private static final int TCP_OVER_IPV4 = 0x11;
    private static final int TCP_OVER_IPV6 = 0x21;

    @TempDir
    Path directory;

    private Origin origin;
    private Rig rig;

    @BeforeEach
    void start() throws Exception {
        origin = Origin.start().on("/", Behaviors.text("hello"));
    }

    @AfterEach
    void stop() throws Exception {
        rig.close();
        origin.close();
    }

    private void serve(String trusted) throws Exception {
        rig = Rig.to(origin, Pairing.H1_TO_H1)
                .listener("proxyProtocol: {trustedCidrs: [%s]}".formatted(trusted))
                .start();
    }

    @ParameterizedTest
    @CsvSource({
        "PROXY TCP4 203.0.113.7 192.0.2.1 51234 443, 203.0.113.7",
        "PROXY TCP6 2001:db8::7 2001:db8::1 51234 8443, 2001:db8::7",
        "PROXY UNKNOWN, 127.0.0.1",
    })
    void version1TellsTheClient(String header, String address) throws Exception {
        serve("127.0.0.0/8");
        assertTold(header.concat("\r\n").getBytes(StandardCharsets.US_ASCII), address);
    }

    @Test
    void version2TellsTheClient() throws Exception {
        serve("127.0.0.0/8");
        byte[] ipv4 = {(byte) 203, 0, 113, 7, (byte) 192, 0, 2, 1};
        assertTold(version2(PROXY, TCP_OVER_IPV4, ipv4, 443), "203.0.113.7");
        byte[] ipv6 = new byte[32];
        System.arraycopy(InetAddress.getByName("2001:db8::7").getAddress(), 0, ipv6, 0, 16);
        System.arraycopy(InetAddress.getByName("2001:db8::1").getAddress(), 0, ipv6, 16, 16);
        assertTold(version2(PROXY, TCP_OVER_IPV6, ipv6, 8443), "2001:db8::7");
        // With fields of types that nobody knows, and one that is longer than a small buffer.
        assertTold(version2(PROXY, TCP_OVER_IPV4, ipv4, 443, 1, 4, 600), "203.0.113.7");
        // The proxy asks for itself.
        assertTold(version2(LOCAL, 0), "127.0.0.1");
    }

    /** A header of version 2; the address bytes are followed by ports, and by fields of these lengths. */
    private static byte[] version2(int command, int family, byte[] addresses, int port, int... fields)
            throws IOException {
        ByteArrayOutputStream rest = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(rest);
        out.write(addresses);
        out.writeShort(51234);
        out.writeShort(port);
        for (int length : fields) {
            out.write(0xE0);
            out.writeShort(length);
            out.write(new byte[length]);
        }
        return version2(command, family, rest.toByteArray());
    }

    private static byte[] version2(int command, int family, byte... rest) throws IOException {
        ByteArrayOutputStream header = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(header);
        out.writeBytes("\r\n\r\n\0\r\nQUIT\n");
        out.write(command);
        out.write(family);
        out.writeShort(rest.length);
        out.write(rest);
        return header.toByteArray();
    }

    private void assertTold(byte[] header, String address) throws Exception {
        int before = origin.requests("/").size();
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw(header);
            for (int i = 0; i < 2; i++) { // the header is the connection's, not the request's
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/", "X-Forwarded-For", "198.51.100.9"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo("hello");
            }
        }
        List<Head> requests = origin.requests("/").subList(before, before + 2);
        assertThat(requests)
                .allSatisfy(
                        // What the client says of itself is not believed: it is no trusted proxy.
                        request -> assertThat(request.all("x-forwarded-for")).containsExactly(address));
        // Host names no port. Which one the balancer has bound is nothing that the client knows.
        assertThat(requests).allSatisfy(request -> assertThat(request.get("x-forwarded-port"))
                .contains("80"));
        assertThat(rig.awaitAccessLog(before + 2).get(before + 1))
                .contains("\"client\":\"" + address + "\",\"peer\":\"127.0.0.1\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2-prior-knowledge", "--http1.1 tls", "--http2 tls"})
    void curlIsUnderstood(String how) throws Exception {
        serve("127.0.0.0/8");
        boolean tls = how.endsWith(" tls");
        Tools.Result result = curl(
                tls,
                rig.port(tls ? "secure" : "clear"),
                List.of("--haproxy-protocol", how.split(" ", 2)[0], "--interface", "127.0.0.5"));
        assertThat(result.output()).isEqualTo("hello 200");
        assertThat(origin.requests("/").get(0).all("x-forwarded-for")).containsExactly("127.0.0.5");
    }

    @ParameterizedTest
    @ValueSource(strings = {"send-proxy", "send-proxy-v2", "send-proxy-v2 proxy-v2-options crc32c,unique-id"})
    void haproxyIsUnderstood(String option) throws Exception {
        serve("127.0.0.1/32");
        int clear = Tools.freePort();
        int secure = Tools.freePort();
        try (Haproxy haproxy = new Haproxy(option, clear, secure)) {
            haproxy.awaitListening(clear, secure);
            for (boolean tls : new boolean[] {false, true}) {
                int before = origin.requests("/").size();
                for (String version : List.of("--http1.1", tls ? "--http2" : "--http2-prior-knowledge")) {
                    Tools.Result result = curl(tls, tls ? secure : clear, List.of(version, "--interface", "127.0.0.5"));
                    assertThat(result.output()).isEqualTo("hello 200");
                }
                assertThat(origin.requests("/").subList(before, before + 2))
                        .allSatisfy(request ->
                                assertThat(request.all("x-forwarded-for")).containsExactly("127.0.0.5"));
            }
        }
    }

    @Test
    void aPeerThatIsNotTrustedMayNotSendAHeaderAndNeedsNone() throws Exception {
        serve("192.0.2.0/24");
        assertThat(curl(false, rig.port(), List.of("--haproxy-protocol")).output())
                .endsWith(" 000");
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw(version2(PROXY, TCP_OVER_IPV4, new byte[8], 443)).raw("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
            client.awaitClosed();
        }
        assertThat(origin.requests("/")).isEmpty();
        assertThat(rig.metric("gateway_protocol_violations_total", "kind=\"proxy_protocol\""))
                .isEqualTo(2);

        for (boolean tls : new boolean[] {false, true}) {
            assertThat(curl(tls, rig.port(tls ? "secure" : "clear"), List.of()).output())
                    .isEqualTo("hello 200");
        }
        assertThat(origin.requests("/")).hasSize(2).allSatisfy(request -> assertThat(request.get("x-forwarded-for"))
                .contains("127.0.0.1"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
                "PROXY TCP4 203.0.113.7\r\nGET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
                "PROXY TCP4 203.0.113.7 192.0.2.1 51234 99999\r\nGET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
                "PROXY TCP4 203.0.113.7 192.0.2.1 51234 443 and so on and on and on and on and on and on and on and on "
                        + "and on and on and on and on\r\nGET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
            })
    void aTrustedPeerWithoutARightHeaderGetsNothing(String sent) throws Exception {
        serve("127.0.0.0/8");
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw(sent);
            client.awaitClosed();
        }
        assertThat(origin.requests("/")).isEmpty();
        assertThat(rig.metric("gateway_protocol_violations_total", "kind=\"proxy_protocol\""))
                .isEqualTo(1);
    }

    private static Tools.Result curl(boolean tls, int port, List<String> options) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(Tools.find("curl"), "-s", "-k", "--max-time", "20", "--noproxy", "*"));
        command.addAll(List.of("-w", " %{http_code}"));
        command.addAll(options);
        command.add((tls ? "https" : "http") + "://127.0.0.1:" + port + "/");
        return Tools.run(30, command);
    }

    /** HAProxy in front of both listeners, relaying bytes. */
    private final class Haproxy implements AutoCloseable {
        private final Process process;
        private final Path out = directory.resolve("haproxy.out");

        Haproxy(String option, int clear, int secure) throws IOException {
            Path file = Files.writeString(
                    directory.resolve("haproxy.cfg"),
                    """
                    defaults
                      mode tcp
                      timeout connect 10s
                      timeout client 30s
                      timeout server 30s
                    listen clear
                      bind 127.0.0.1:%1$d
                      server gateway 127.0.0.1:%2$d %5$s
                    listen secure
                      bind 127.0.0.1:%3$d
                      server gateway 127.0.0.1:%4$d %5$s
                    """
                            .formatted(clear, rig.port(), secure, rig.tlsPort(), option));
            process = new ProcessBuilder(Tools.find("haproxy"), "-db", "-f", file.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(out.toFile())
                    .start();
        }

        void awaitListening(int... ports) throws IOException {
            for (int port : ports) {
                if (!Tools.awaitListening(port, process)) {
                    throw new IOException("HAProxy did not start: " + Files.readString(out));
                }
            }
        }

        @Override
        public void close() {
            Tools.stop(process);
        }
    }
}
