package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Pairing;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A request that an upstream of HTTP/2 says it has not processed is sent again, whatever its method, and its body too. */
@Tag("jar")
@Timeout(120)
class UnprocessedIT {
    private static final String BODY = "0123456789".repeat(300);

    private static GatewayJar gateway(Pairing pairing, int... ports) throws IOException {
        List<String> endpoints = new ArrayList<>();
        for (int port : ports) {
            endpoints.add("{host: 127.0.0.1, port: " + port + "}");
        }
        return GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams: [{name: app, endpoints: %s, protocol: %s}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(endpoints, pairing.upstream))
                .start();
    }

    private static int post(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("POST", "/", "content-length", Integer.toString(BODY.length())), false);
        stream.send(BODY, true);
        int status = stream.receiveFinal().status();
        String answer = stream.receiveBody();
        if (status == 200) {
            assertThat(answer).isEqualTo(BODY);
        }
        return status;
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void aRefusedStreamIsSentAgainWithItsBody(Pairing pairing) throws Exception {
        AtomicInteger streams = new AtomicInteger();
        List<String> processed = new CopyOnWriteArrayList<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    if (streams.incrementAndGet() % 2 == 1) {
                        stream.receive(new byte[1]);
                        ((Http2Stream) stream).reset(7); // REFUSED_STREAM
                    } else {
                        processed.add(head.path());
                        Behaviors.echo().serve(stream, head);
                    }
                });
                GatewayJar gateway = gateway(pairing, origin.port());
                Peer client = pairing.client.connect(gateway.port("web"))) {
            for (int i = 0; i < 20; i++) {
                assertThat(post(client)).isEqualTo(200);
            }
            assertThat(processed).hasSize(20);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void aRequestThatThreeConnectionsRefuseOneAfterTheOtherGoesToAFourth(Pairing pairing) throws Exception {
        Set<Peer> refused = ConcurrentHashMap.newKeySet();
        AtomicInteger again = new AtomicInteger();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    if (refused.size() < 3 && refused.add(stream.peer())) {
                        ((Http2Stream) stream).reset(7); // REFUSED_STREAM
                        return;
                    }
                    if (refused.contains(stream.peer())) {
                        again.incrementAndGet();
                    }
                    Behaviors.echo().serve(stream, head);
                });
                GatewayJar gateway = gateway(pairing, origin.port());
                Peer client = pairing.client.connect(gateway.port("web"))) {
            assertThat(post(client)).isEqualTo(200);
            assertThat(refused).hasSize(3);
            assertThat(again).hasValue(0);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void aStreamBeyondTheLastOfAGoawayIsSentAgainWithItsBody(Pairing pairing) throws Exception {
        AtomicInteger streams = new AtomicInteger();
        List<String> processed = new CopyOnWriteArrayList<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    Http2Stream http2 = (Http2Stream) stream;
                    // Each of the first two connections goes away under the request.
                    if (streams.incrementAndGet() % 3 != 0) {
                        stream.receive(new byte[1]);
                        http2.peer().goAway(http2.id() - 2, 0);
                    } else {
                        processed.add(head.path());
                        Behaviors.echo().serve(stream, head);
                    }
                });
                GatewayJar gateway = gateway(pairing, origin.port());
                Peer client = pairing.client.connect(gateway.port("web"))) {
            for (int i = 0; i < 10; i++) {
                assertThat(post(client)).isEqualTo(200);
            }
            assertThat(processed).hasSize(10);
        }
    }

    /** What it may have processed is another matter. */
    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"})
    void aPostUpToTheLastStreamOfAGoawayIsNotSentAgain(Pairing pairing) throws Exception {
        AtomicInteger received = new AtomicInteger();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    received.incrementAndGet();
                    Http2Stream http2 = (Http2Stream) stream;
                    http2.peer().goAway(http2.id(), 0);
                    http2.peer().close();
                });
                GatewayJar gateway = gateway(pairing, origin.port());
                Peer client = pairing.client.connect(gateway.port("web"))) {
            assertThat(post(client)).isEqualTo(502);
            assertThat(received).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRequestGoesThroughAllEndpointsThatRefuseConnections(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.echo())) {
            int[] ports = {ClosedPort.number(), ClosedPort.number(), origin.port()};
            try (GatewayJar gateway = gateway(pairing, ports);
                    Peer client = pairing.client.connect(gateway.port("web"))) {
                for (int i = 0; i < 30; i++) {
                    assertThat(post(client)).isEqualTo(200);
                }
            }
        }
    }
}
