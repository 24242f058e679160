package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.peer.StreamResetException;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The same odd head by HTTP/1.1 and by HTTP/2 has the same verdict: the rules for hosts, paths and lengths are one set of
 * rules, whatever the protocol. What passes names the same host and the same path to the upstream.
 */
@Tag("jar")
@Timeout(120)
class SameVerdictIT {
    private static final String REFUSED = "refused";

    private static Origin origin;
    private static GatewayJar gateway;

    @BeforeAll
    static void start() throws Exception {
        origin = Origin.start().otherwise((stream, head) -> {
            stream.receiveBody();
            String seen = head.get("host").orElse("none") + " " + head.target();
            stream.send(Head.response(200, "content-length", Integer.toString(seen.length())), false);
            stream.send(seen, true);
        });
        gateway = GatewayJar.of(
                        """
                        listeners:
                          - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
                          - {name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}
                        routes:
                          - parentRefs: [{name: web}]
                            hostnames: [admin.test]
                            rules:
                              - filters: [{type: DirectResponse, directResponse: {statusCode: 403, body: "no"}}]
                          - parentRefs: [{name: web}]
                            rules:
                              - matches: [{path: {type: PathPrefix, value: /admin}}]
                                filters: [{type: DirectResponse, directResponse: {statusCode: 403, body: "no"}}]
                              - backendRefs: [{name: app}]
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                        connect: [{parentRefs: [{name: egress}], allow: [a.test], allowedPorts: [443], pac: {}}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(origin.port()))
                .start();
    }

    @AfterAll
    static void stop() throws Exception {
        gateway.close();
        origin.close();
    }

    /** Returns what becomes of a request: the status, and what the upstream saw of one that it answered. */
    private static String verdict(Peers protocol, String listener, Head head) throws IOException {
        try (Peer client = protocol.connect(gateway.port(listener))) {
            PeerStream stream = client.open();
            stream.send(head, true);
            int status = stream.receiveFinal().status();
            String body = status == 200 && !head.method().equals("CONNECT") ? " " + stream.receiveBody() : "";
            return status == 400 ? REFUSED : status + body;
        } catch (StreamResetException e) {
            return REFUSED; // how HTTP/2 says that a request is malformed
        }
    }

    private static void assertSameVerdict(String listener, Head head) throws IOException {
        assertThat(verdict(Peers.H2C, listener, head)).isEqualTo(verdict(Peers.HTTP1, listener, head));
    }

    static Stream<String> hosts() {
        return Stream.of(
                "admin.test",
                "ADMIN.test",
                "admin.test.",
                "admin.test:80",
                "admin.test:",
                "admin.test:x",
                "admin.test:80:80",
                "admin.test:0",
                "admin.test:00080",
                "admin.test:65535",
                "admin.test:65536",
                "admin.test:99999",
                "admin.test:-1",
                "admin.test:+80",
                "admin.test::80",
                "a,admin.test",
                "(admin.test)",
                "admin%2etest",
                "admin.test%00",
                "admin.test%20",
                "admin.test;x",
                "admin.test&x",
                "admin.test=x",
                "admin.test!",
                "admin.test$",
                "admin.test'",
                "admin.test*",
                "*.test",
                "admin.test+x",
                "admin_x.test",
                "admin~x.test",
                "-admin.test",
                ".admin.test",
                "admin.test..",
                "admin.test..:80",
                "a..admin.test",
                "admin..test",
                ".",
                ":",
                ":80",
                "[",
                "]",
                "[]",
                "[::1]",
                "[::1]:80",
                "[::1]:x",
                "[::1]x",
                "[::1%25eth0]",
                "[::ffff:127.0.0.1]",
                "[v1.x]",
                "::1",
                "127.0.0.1",
                "127.1",
                "user@admin.test",
                "user:pass@admin.test",
                "admin.test/x",
                "admin.test\\x",
                "admin.test?x",
                "admin.test#x",
                "admin.test x",
                "admin.test\tx",
                "\u00e4.test",
                "a".repeat(255),
                "a".repeat(256));
    }

    @ParameterizedTest
    @MethodSource("hosts")
    void ofAHost(String host) throws Exception {
        assertSameVerdict("web", Head.request("GET", "/x", "Host", host));
    }

    /** What nginx takes for the host admin.test must be that host for the rules, or be refused. */
    @ParameterizedTest
    @ValueSource(strings = {"admin.test:x", "admin.test:80:80", "a,admin.test", "(admin.test)", "admin%2etest", "["})
    void ofAHostThatIsNone(String host) throws Exception {
        for (Peers protocol : List.of(Peers.HTTP1, Peers.H2C)) {
            assertThat(verdict(protocol, "web", Head.request("GET", "/secret", "Host", host)))
                    .isEqualTo(REFUSED);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "*",
                "x",
                "http",
                "//",
                "//admin/x",
                "/admin/x",
                "/./admin/x",
                "/x/../admin/x",
                "/../admin",
                "/%61dmin/x",
                "/admin%2Fx",
                "/admin%2fx",
                "/admin;a=1/x",
                "/x/..;/admin",
                "/x/..%2Fadmin",
                "/x%00",
                "/x%",
                "/x%zz",
                "/x\\y",
                "/x#y",
                "/x?y#z",
                "/x?y=%00",
                "/x|y",
                "/x\"y",
                "/x<y>",
                "/x{y}",
                "/x^y`z",
                "/\u00e4",
                "/x?\u00e4"
            })
    void ofAPath(String path) throws Exception {
        assertSameVerdict("web", Head.request("GET", path));
    }

    @ParameterizedTest
    @ValueSource(ints = {7_000, 8_000, 8_178, 8_179, 8_192, 9_000, 20_000})
    void ofALongPath(int length) throws Exception {
        assertSameVerdict("web", Head.request("GET", "/" + "x".repeat(length - 1)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"OPTIONS", "TRACE", "CONNECT", "get", "G\u00e4T", "G(T", "PURGE", "PRI"})
    void ofAMethod(String method) throws Exception {
        assertSameVerdict(
                "web", Head.request(method, method.equals("CONNECT") ? "a.test:443" : "/x", "Host", "a.test:443"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0",
                "00",
                "0000000000000000000000",
                "-0",
                "+0",
                "",
                "0x0",
                "0,0",
                "0 0",
                "a",
                "9223372036854775808"
            })
    void ofALength(String length) throws Exception {
        assertSameVerdict("web", Head.request("GET", "/x", "Content-Length", length));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a.test:443",
                "a.test:443x",
                "a.test:0443",
                "a.test",
                "a.test:",
                "a.test:0",
                "a.test:65536",
                ":443",
                "[:443",
                "[::1]:443",
                "u@a.test:443",
                "a.test:443:443",
                "a,b.test:443",
                "a%2etest:443",
                "127.1:443",
                "other.test:443"
            })
    void ofADestination(String destination) throws Exception {
        for (String listener : List.of("web", "egress")) {
            assertSameVerdict(listener, Head.request("CONNECT", destination, "Host", destination));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"[", "]", "[]", "x", "::1", "[::1]", "a:b"})
    void ofAHostThatAsksForTheScript(String host) throws Exception {
        String h1 = verdict(Peers.HTTP1, "egress", Head.request("GET", "/proxy.pac", "Host", host));
        // By HTTP/2 a URI of http:// would be another host's, as it is for a proxy.
        Head secure = Head.request("GET", "/proxy.pac", "Host", host, ":scheme", "https");
        assertThat(verdict(Peers.H2C, "egress", secure)).isEqualTo(h1);
        assertThat(gateway.log()).doesNotContain("Exception");
    }

    /** A length that neither protocol takes must not be a reason to keep a connection. */
    @Test
    void aConnectionThatSentNoHostIsClosed() throws Exception {
        try (Http1Peer client = Http1Peer.connect(gateway.port("web"))) {
            client.raw("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n");
            assertThat(client.response("GET").receiveFinal().status()).isEqualTo(400);
            client.awaitClosed();
        }
    }
}
