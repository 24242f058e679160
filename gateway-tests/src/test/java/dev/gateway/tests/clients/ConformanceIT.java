package dev.gateway.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What public suites of conformance ask of answers. */
@Tag("jar")
@Timeout(60)
class ConformanceIT {
    private static GatewayJar start(Origin origin) throws IOException {
        return GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: "off"}
                        """
                                .formatted(origin.port()))
                .start();
    }

    /** RFC 9112, section 3: a method longer than any that is implemented. */
    @Test
    void aMethodOfThousandsOfCharactersIsNotImplemented() throws Exception {
        try (Origin origin = Origin.start();
                GatewayJar gateway = start(origin);
                Http1Peer client = Http1Peer.connect(gateway.port("web"))) {
            client.raw("X".repeat(10_000));
            assertThat(client.readToEnd()).startsWith("HTTP/1.1 501 ");
        }
    }

    /** RFC 9110, section 10.1.1: 100 says nothing to a client whose body has come already. */
    @Test
    void aBodyThatHasComeIsNotAskedFor() throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.send(Head.response(100), false);
                    Behaviors.text("ok").serve(stream, head);
                });
                GatewayJar gateway = start(origin);
                Http1Peer client = Http1Peer.connect(gateway.port("web"))) {
            client.raw("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody");
            assertThat(client.response("POST").receiveHead().status()).isEqualTo(200);
        }
    }
}
