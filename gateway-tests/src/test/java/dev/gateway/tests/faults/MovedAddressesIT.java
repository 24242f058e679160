package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A container is recreated and has another address. The name server has given its former address a long time to live (TTL).
 */
@Timeout(60) // less than any time to live here
class MovedAddressesIT {
    private static final String FORMER = "127.0.9.1";
    private static final String PRESENT = "127.0.9.2";

    private static NameServer names(int port) throws Exception {
        return new NameServer()
                .holdFor(600)
                .serves("_http._tcp.app.test", "1 1 " + port + " app.test")
                .has("app.test", List.of(FORMER));
    }

    private static Rig start(NameServer names, String key, String protocol, int port) throws Exception {
        return start(names, key, protocol, port, "30s");
    }

    private static Rig start(NameServer names, String key, String protocol, int port, String maxTtl) throws Exception {
        String endpoint = key.equals("srv") ? "srv: _http._tcp.app.test" : key + ": app.test, port: " + port;
        return Rig.start(
                """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                routes: [{name: all, rules: [{backendRefs: [{name: app}], retry: {connectWait: 30s}}]}]
                upstreams:
                  - {name: app, protocol: %s, timeouts: {connect: 30s}, endpoints: [{%s}]}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                resolver: {nameServers: ["127.0.0.1:%d"], maxTtl: %s}
                drain: {timeout: 2s}
                """
                        .formatted(protocol, endpoint, names.port(), maxTtl));
    }

    private static String ask(Peer client) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        int status = stream.receiveFinal().status();
        String body = stream.receiveBody();
        return status == 200 ? body : Integer.toString(status);
    }

    /** Waits until the endpoint is the one of the name's address, whatever the key calls it. */
    private static void awaitEndpoint(Rig rig, String key, String address, int port) throws Exception {
        UpstreamPage.await(rig, List.of((key.equals("host") ? "app.test" : address) + ":" + port));
    }

    @ParameterizedTest
    @CsvSource({"host, http1", "host, h2c", "dns, http1", "dns, h2c", "srv, http1"})
    void anAddressThatRefusesHasDnsAskedAgain(String key, String protocol) throws Exception {
        try (Origin present = Origin.startAt(PRESENT, 0).on("/", Behaviors.text("present"));
                NameServer names = names(present.port());
                Rig rig = start(names, key, protocol, present.port());
                Peer client = rig.connect(Peers.HTTP1)) {
            UpstreamPage.awaitSource(rig, "fresh");
            awaitEndpoint(rig, key, FORMER, present.port());
            names.has("app.test", List.of(PRESENT));
            assertThat(ask(client)).as("a request that waits for the answer").isEqualTo("present");
            awaitEndpoint(rig, key, PRESENT, present.port());
            assertThat(ask(client)).isEqualTo("present");
        }
    }

    @ParameterizedTest
    @CsvSource({"host, http1", "host, h2c", "dns, http1", "dns, h2c", "srv, http1"})
    void theEndOfAllKeptConnectionsHasDnsAskedAgain(String key, String protocol) throws Exception {
        try (Origin former = Origin.startAt(FORMER, 0).on("/", Behaviors.text("former"));
                Origin present = Origin.startAt(PRESENT, former.port()).on("/", Behaviors.text("present"));
                NameServer names = names(former.port());
                Rig rig = start(names, key, protocol, former.port());
                Peer client = rig.connect(Peers.HTTP1)) {
            awaitEndpoint(rig, key, FORMER, former.port());
            assertThat(ask(client)).isEqualTo("former");
            names.has("app.test", List.of(PRESENT));
            former.leave();
            awaitEndpoint(rig, key, PRESENT, present.port()); // without a request
            assertThat(ask(client)).isEqualTo("present");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "dns", "srv"})
    void anAddressThatSomebodyElseHasTakenIsLeftAfterMaxTtl(String key) throws Exception {
        try (Origin former = Origin.startAt(FORMER, 0).on("/", Behaviors.text("another application"));
                Origin present = Origin.startAt(PRESENT, former.port()).on("/", Behaviors.text("present"));
                NameServer names = names(former.port());
                Rig rig = start(names, key, "http1", present.port(), "1s");
                Peer client = rig.connect(Peers.HTTP1)) {
            UpstreamPage.awaitSource(rig, "fresh");
            assertThat(ask(client)).isEqualTo("another application");
            names.has("app.test", List.of(PRESENT));
            awaitPresent(client, "another application");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "dns", "srv"})
    void aReloadHasDnsAskedAgain(String key) throws Exception {
        try (Origin former = Origin.startAt(FORMER, 0).on("/", Behaviors.text("former"));
                Origin present = Origin.startAt(PRESENT, former.port()).on("/", Behaviors.text("present"));
                NameServer names = names(former.port());
                Rig rig = start(names, key, "http1", present.port(), "1h");
                Peer client = rig.connect(Peers.HTTP1)) {
            UpstreamPage.awaitSource(rig, "fresh");
            assertThat(ask(client)).isEqualTo("former");
            names.has("app.test", List.of(PRESENT));
            assertThat(rig.post("/reload").statusCode()).isEqualTo(200);
            awaitPresent(client, "former");
        }
    }

    /** Asks until the present endpoint answers, and wants the other one's answer until then. The test's timeout ends this. */
    private static void awaitPresent(Peer client, String before) throws Exception {
        String answer = ask(client);
        while (!answer.equals("present")) {
            assertThat(answer).isEqualTo(before);
            answer = ask(client);
        }
    }

    /** Takes an address where nobody can connect: more wait there than the kernel keeps for one who does not accept. */
    private static AutoCloseable silence(String address, int port) throws Exception {
        List<AutoCloseable> open = new ArrayList<>();
        ServerSocket server = new ServerSocket(port, 1, InetAddress.getByName(address));
        open.add(server);
        for (int i = 0; i < 4; i++) {
            SocketChannel filler = SocketChannel.open();
            open.add(filler);
            filler.configureBlocking(false);
            filler.connect(server.getLocalSocketAddress());
        }
        return () -> {
            for (AutoCloseable each : open) {
                each.close();
            }
        };
    }

    @ParameterizedTest
    @CsvSource({"host, http1", "host, h2c", "dns, http1", "dns, h2c", "srv, http1"})
    void aRequestThatWaitsForASilentAddressGetsAConnectionToTheNewOne(String key, String protocol) throws Exception {
        try (Origin present = Origin.startAt(PRESENT, 0).on("/", Behaviors.text("present"));
                AutoCloseable silent = silence(FORMER, present.port());
                NameServer names = names(present.port());
                Rig rig = start(names, key, protocol, present.port());
                Peer client = rig.connect(Peers.HTTP1)) {
            assertThat(silent).isNotNull();
            UpstreamPage.awaitSource(rig, "fresh");
            names.has("app.test", List.of(PRESENT));
            assertThat(ask(client)).isEqualTo("present");
        }
    }
}
