package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A request that is refused before it has a route can be found in the access log, which names the limit it went beyond. */
@Tag("jar")
@Timeout(60)
class EarlyRefusalIT {
    private static final Pattern ID = Pattern.compile("\"requestId\":\"([0-9a-f]{32})\"");

    private static void refused(Peers protocol, GatewayJar gateway, int status, String detail, Head request)
            throws Exception {
        String id;
        try (Peer client = protocol.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(request, true);
            assertThat(stream.receiveFinal().status()).isEqualTo(status);
            Matcher told = ID.matcher(stream.receiveBody());
            assertThat(told.find()).as("an id in the answer " + status).isTrue();
            id = told.group(1);
        }
        gateway.await("a line of the access log with the id " + id, () -> gateway.log()
                .contains(id));
        assertThat(gateway.log().lines().filter(line -> line.contains(id)))
                .singleElement()
                .asString()
                .contains(detail);
    }

    private static String[] fields(int number, int length) {
        String[] fields = new String[2 * number];
        for (int i = 0; i < number; i++) {
            fields[2 * i] = "x-" + i;
            fields[2 * i + 1] = "v".repeat(length);
        }
        return fields;
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void itHasAnIdAndNamesTheLimit(Peers protocol) throws Exception {
        try (Origin origin = Origin.start().otherwise(Behaviors.text("ok"));
                GatewayJar gateway = start(origin)) {
            refused(protocol, gateway, 404, "no route matches", Head.request("GET", "/none"));
            refused(
                    protocol,
                    gateway,
                    400,
                    "a path that must not be forwarded",
                    Head.request("GET", "/app/%2e%2e%2f.."));
            refused(
                    protocol,
                    gateway,
                    431,
                    "more than 4096 bytes (limits.maxHeaderBytes)",
                    Head.request("GET", "/app", fields(2, 2300)));
            refused(
                    protocol,
                    gateway,
                    431,
                    "more than 20 (limits.maxHeaders)",
                    Head.request("GET", "/app", fields(40, 1)));
            if (!protocol.isHttp2()) { // HTTP/2 wants a request that ends without its body to be reset
                refused(
                        protocol,
                        gateway,
                        413,
                        "more than 1024 (limits.maxBody)",
                        Head.request("POST", "/app", "content-length", "2000"));
                refused(
                        protocol,
                        gateway,
                        414,
                        "(limits.maxRequestLine)",
                        Head.request("GET", "/app/" + "x".repeat(3000)));
            }
        }
    }

    /** The first head on a connection comes before the client has acknowledged our SETTINGS. */
    @ParameterizedTest
    @ValueSource(ints = {4_200, 5_500, 8_000, 12_000})
    void aFirstHeadOfHttp2BeyondTheLimitIs431AndTheConnectionGoesOn(int length) throws Exception {
        try (Origin origin = Origin.start().otherwise(Behaviors.text("ok"));
                GatewayJar gateway = start(origin);
                Peer client = Peers.H2C.connect(gateway.port("web"))) {
            PeerStream large = client.open();
            large.send(Head.request("GET", "/app", "x-large", "\\".repeat(length)), true); // which HPACK cannot shorten
            assertThat(large.receiveFinal().status()).isEqualTo(431);
            PeerStream next = client.open();
            next.send(Head.request("GET", "/app"), true);
            assertThat(next.receiveFinal().status()).isEqualTo(200);
        }
    }

    private static GatewayJar start(Origin origin) throws IOException {
        return GatewayJar.of(
                        """
                        listeners:
                          - name: web
                            address: 127.0.0.1
                            port: 0
                            protocol: HTTP
                            limits: {maxBody: 1KiB, maxHeaderBytes: 4KiB, maxHeaders: 20, maxRequestLine: 2KiB}
                        routes:
                          - rules:
                              - matches: [{path: {type: PathPrefix, value: /app}}]
                                backendRefs: [{name: app}]
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: json}
                        """
                                .formatted(origin.port()))
                .start();
    }
}
