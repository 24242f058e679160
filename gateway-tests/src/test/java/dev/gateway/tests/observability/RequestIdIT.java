package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Operators call the request ID what their other programs call it. */
class RequestIdIT {
    private static String config(String requestId, Pairing pairing, Origin origin) {
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP%1$s}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}%1$s}
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, protocol: %2$s, endpoints: [{host: 127.0.0.1, port: %3$d}]}]
                admin: {port: 0}
                accessLog: {path: access.log, template: '{requestId}'}
                """
                .formatted(requestId, pairing.upstream, origin.port());
    }

    private static void get(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", "x-correlation-id", "forged"), true);
        stream.receiveFinal();
        stream.receiveBody();
    }

    @CrossPairingTest
    void upstreamsGetTheIdInTheFieldAndFormThatTheOperatorWants(Pairing pairing) throws Exception {
        BlockingQueue<Head> received = new LinkedBlockingQueue<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    received.add(head);
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-length", "0"), true);
                });
                Rig rig = Rig.start(config("", pairing, origin));
                Peer client = rig.connect(pairing)) {
            get(client);
            Head first = received.remove();
            assertThat(first.get("x-request-id").orElseThrow()).matches("[0-9a-f]{32}");
            rig.reload(config(", requestId: {header: X-Correlation-Id, format: uuid}", pairing, origin));
            get(client); // on the open connection
            Head second = received.remove();
            assertThat(second.get("x-request-id")).isEmpty();
            assertThat(second.all("x-correlation-id"))
                    .singleElement()
                    .asString()
                    .matches("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
            assertThat(rig.awaitAccessLog(2))
                    .isEqualTo(List.of(
                            first.get("x-request-id").orElseThrow(),
                            second.get("x-correlation-id").orElseThrow()));
        }
    }
}
