package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * An upstream that frames a response as none may be framed may send a body that nobody expects. Its connection carries
 * no other request: the body would be the response to it.
 */
@Tag("jar")
@Timeout(120)
class ForbiddenFramingIT {
    private static GatewayJar to(Origin origin, String protocol) throws IOException {
        return GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams:
                          - {name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(origin.port(), protocol))
                // One loop, so that the second request finds the connection of the first.
                .jvm("-XX:ActiveProcessorCount=1")
                .start();
    }

    private static String ask(Peer client, String path) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path), true);
        int status = stream.receiveFinal().status();
        return status + " " + stream.receiveBody();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "204 | Content-Length: 41 | true",
                "204 | Content-Length: 0 | false",
                "204 | Transfer-Encoding: chunked | true",
                "304 | Transfer-Encoding: chunked | false",
                "205 | Content-Length: 4 | true",
                "103 | Content-Length: 4 | true",
                "103 | Transfer-Encoding: chunked | true",
                "204 | X-Sound: yes | false",
                "304 | Content-Length: 41 | false",
                "205 | Content-Length: 0 | false",
                "103 | Content-Length: 0 | false",
                "103 | X-Sound: yes | false",
            })
    void aResponseWithFramingThatItMustNotHaveIsTheLastOfItsConnection(int status, String framing, boolean forbidden)
            throws Exception {
        AtomicInteger requests = new AtomicInteger();
        String field = framing + "\r\n";
        try (Origin origin = Origin.start().otherwise((stream, head) -> {
                    requests.incrementAndGet();
                    stream.receiveBody();
                    Http1Peer peer = (Http1Peer) stream.peer();
                    if (!head.path().equals("/odd")) {
                        peer.raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood");
                    } else if (status < 200) {
                        peer.raw("HTTP/1.1 " + status + " Odd\r\n" + field + "\r\n"
                                + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood");
                    } else {
                        String body = status == 205 && field.contains("4") ? "EVIL" : "";
                        peer.raw("HTTP/1.1 " + status + " Odd\r\n" + field + "\r\n" + body);
                    }
                });
                GatewayJar gateway = to(origin, "http1");
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            ask(client, "/odd");
            assertThat(ask(client, "/next")).isEqualTo("200 good");
            assertThat(origin.connections()).isEqualTo(forbidden ? 2 : 1);
        }
    }

    /** The body that a 204 announces comes when another client's request is on its way. */
    @Test
    void theBodyOfA204IsNotTheResponseToAnotherRequest() throws Exception {
        try (Origin origin = Origin.start().otherwise((stream, head) -> {
                    stream.receiveBody();
                    Http1Peer peer = (Http1Peer) stream.peer();
                    if (head.path().equals("/odd")) {
                        peer.raw("HTTP/1.1 204 No Content\r\nContent-Length: 41\r\n\r\n");
                        stream.receiveBody();
                        // The next request, if it comes this way, is answered by what belongs to the 204.
                        PeerStream next = peer.open();
                        next.receiveHead();
                        peer.raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL");
                    } else {
                        peer.raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood");
                    }
                });
                GatewayJar gateway = to(origin, "http1");
                Peer one = Peers.HTTP1.connect(gateway.port("web"));
                Peer other = Peers.HTTP1.connect(gateway.port("web"))) {
            assertThat(ask(one, "/odd")).startsWith("204");
            assertThat(ask(other, "/next")).isEqualTo("200 good");
        }
    }

    /** HTTP/2 frames a response by its stream; DATA of one that has no content breaks the rules for it alone. */
    @Test
    void dataOfA204DoesNotReachTheClient() throws Exception {
        try (Origin origin = Origin.start().otherwise((stream, head) -> {
                    stream.receiveBody();
                    if (head.path().equals("/odd")) {
                        stream.send(Head.response(204), false);
                        stream.send("EVIL", true);
                    } else {
                        stream.send(Head.response(200, "content-length", "4"), false);
                        stream.send("good", true);
                    }
                });
                GatewayJar gateway = to(origin, "h2c");
                Peer client = Peers.H2C.connect(gateway.port("web"))) {
            PeerStream odd = client.open();
            odd.send(Head.request("GET", "/odd"), true);
            String body;
            try {
                odd.receiveFinal();
                body = odd.receiveBody();
            } catch (IOException reset) {
                body = "";
            }
            assertThat(body).isEmpty();
            assertThat(ask(client, "/next")).isEqualTo("200 good");
        }
    }
}
