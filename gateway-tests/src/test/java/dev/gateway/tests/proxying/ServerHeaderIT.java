package dev.gateway.tests.proxying;

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
import org.jspecify.annotations.Nullable;

/** The operator decides what responses say about who made them. */
class ServerHeaderIT {
    private static String config(String serverHeader, Pairing pairing, Origin origin) {
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP%1$s}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}%1$s}
                routes:
                  - rules:
                      - matches: [{path: {type: PathPrefix, value: /app}}]
                        backendRefs: [{name: app}]
                      - matches: [{path: {type: PathPrefix, value: /mine}}]
                        backendRefs: [{name: app}]
                        filters:
                          - type: ResponseHeaderModifier
                            responseHeaderModifier: {set: [{name: Server, value: rule}]}
                upstreams: [{name: app, protocol: %2$s, endpoints: [{host: 127.0.0.1, port: %3$d}]}]
                admin: {port: 0}
                """
                .formatted(serverHeader, pairing.upstream, origin.port());
    }

    private static @Nullable String server(Peer client, String path) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path), true);
        Head head = stream.receiveFinal();
        stream.receiveBody();
        return head.get("server").orElse(null);
    }

    private static void answer(PeerStream stream, String... fields) throws IOException {
        stream.receiveBody();
        stream.send(Head.response(200, fields), true);
    }

    @CrossPairingTest
    void theServerOfAResponseIsWhatItsListenerWants(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start()
                        .on(
                                "/app/named",
                                (stream, head) -> answer(stream, "content-length", "0", "server", "origin/1.2"))
                        .on("/app/nameless", (stream, head) -> answer(stream, "content-length", "0"))
                        .on("/mine", (stream, head) -> answer(stream, "content-length", "0", "server", "origin/1.2"));
                Rig rig = Rig.start(config("", pairing, origin));
                Peer client = rig.connect(pairing)) {
            List<String> paths = List.of("/app/named", "/app/nameless", "/mine", "/nowhere");
            String[][] cases = {
                {"", "origin/1.2", null, "rule", "gateway"},
                {", serverHeader: {name: edge}", "origin/1.2", null, "rule", "edge"},
                {", serverHeader: {transformation: appendIfAbsent}", "origin/1.2", "gateway", "rule", "gateway"},
                {", serverHeader: {transformation: overwrite, name: edge 2}", "edge 2", "edge 2", "edge 2", "edge 2"},
                {", serverHeader: {transformation: remove}", null, null, null, null},
            };
            for (String[] each : cases) {
                rig.reload(config(each[0], pairing, origin)); // on the open connection, too
                for (int i = 0; i < paths.size(); i++) {
                    assertThat(server(client, paths.get(i)))
                            .as(each[0] + " " + paths.get(i))
                            .isEqualTo(each[i + 1]);
                }
            }
        }
    }
}
