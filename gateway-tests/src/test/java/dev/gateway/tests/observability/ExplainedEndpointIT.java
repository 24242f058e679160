package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;

/** The endpoint that an explanation names is the one that answers. */
class ExplainedEndpointIT {
    private static final int USERS = 12;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path directory;

    private static JsonNode choice(Rig rig, String query) throws Exception {
        return new ObjectMapper()
                .readTree(rig.admin("/explain?path=/&listener=secure&format=json&" + query))
                .at("/listeners/0/taken/upstreams/0/choice");
    }

    private record Answer(String by, String cookie) {}

    private static Answer ask(Peer client, String name, String value) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", "host", "a.test", name, value), true);
        Head head = stream.receiveFinal();
        assertThat(head.status()).isEqualTo(200);
        return new Answer(
                stream.receiveBody(), head.get("set-cookie").orElse("").replaceAll(";.*", ""));
    }

    private static String yaml(Pairing pairing, String upstream, Origin one, Origin two) {
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams:
                  - name: app
                    protocol: %s
                    endpoints: [{host: 127.0.0.1, port: %d}, {host: 127.0.0.1, port: %d}]
                    %s
                admin: {address: 127.0.0.1, port: 0}
                """
                .formatted(pairing.upstream, one.port(), two.port(), upstream);
    }

    private static String endpoint(String by, Origin one, Origin two) {
        return "127.0.0.1:" + (by.equals("one") ? one.port() : two.port());
    }

    @CrossPairingTest
    void aHashIsExplainedAsItIsChosen(Pairing pairing) throws Exception {
        String hash = "loadBalancer: {policy: Hash, hash: [{header: x-user}]}";
        try (Origin one = Origin.start().on("/", Behaviors.text("one"));
                Origin two = Origin.start().on("/", Behaviors.text("two"));
                Rig rig = Rig.start(yaml(pairing, hash, one, two));
                Peer client = rig.connect(pairing)) {
            Set<String> by = new HashSet<>();
            for (int user = 0; user < USERS; user++) {
                Answer answer = ask(client, "x-user", "u" + user);
                JsonNode choice = choice(rig, "header=x-user:u" + user);
                assertThat(choice.get("by").asText()).isEqualTo("hash");
                assertThat(choice.get("endpoint").asText()).isEqualTo(endpoint(answer.by(), one, two));
                by.add(answer.by());
            }
            assertThat(by).hasSize(2);
            rig.post("/endpoints/app/127.0.0.1:" + one.port() + ":drain");
            for (int user = 0; user < USERS; user++) {
                assertThat(choice(rig, "header=x-user:u" + user).get("endpoint").asText())
                        .isEqualTo("127.0.0.1:" + two.port());
            }
            assertThat(rig.admin("/explain?path=/")).contains("state draining, getsRequests false");
        }
    }

    @CrossPairingTest
    void aSessionIsExplainedAsItIsKept(Pairing pairing) throws Exception {
        Path keys = Files.writeString(directory.resolve("keys"), "0123456789abcdef0123456789abcdef\n");
        String sessions = "sessionPersistence: {sessionName: sid, keyFile: " + keys + "}";
        try (Origin one = Origin.start().on("/", Behaviors.text("one"));
                Origin two = Origin.start().on("/", Behaviors.text("two"));
                Rig rig = Rig.start(yaml(pairing, sessions, one, two));
                Peer client = rig.connect(pairing)) {
            Answer first = ask(client, "x-a", "b");
            String query = "header=" + URLEncoder.encode("cookie: " + first.cookie(), StandardCharsets.UTF_8);
            JsonNode choice = choice(rig, query);
            assertThat(choice.get("by").asText()).isEqualTo("session");
            assertThat(choice.get("endpoint").asText()).isEqualTo(endpoint(first.by(), one, two));
            assertThat(ask(client, "cookie", first.cookie()).by()).isEqualTo(first.by());
            assertThat(choice(rig, "method=GET").get("by").asText()).isEqualTo("balancer");
            assertThat(rig.admin("/explain?path=/&" + query))
                    .doesNotContain(first.cookie().substring("sid=".length()));
        }
    }
}
