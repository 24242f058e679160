package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.testing.SigningKey;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Logins that the gateway remembers are charged as long as the configuration asks for them. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class RememberedLoginsIT {
    private static final long LEAST = 256; // of a login
    private static final SigningKey KEY = SigningKey.of("Ed25519", "k");
    private static final String ANN = "Basic YW5uOnNlY3JldA==";

    private static final String PLAIN =
            """
            listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
            admin: {address: 127.0.0.1, port: 0}
            """;

    @TempDir
    Path files;

    private static String routes(String... filters) {
        StringBuilder rules = new StringBuilder("routes:\n  - rules:\n");
        for (String filter : filters) {
            rules.append("      - {matches: [{path: {value: /")
                    .append(filter, 0, filter.indexOf(' '))
                    .append("}}], filters: [")
                    .append(filter.substring(filter.indexOf(' ')))
                    .append(", {type: DirectResponse, directResponse: {body: ok}}]}\n");
        }
        return rules.toString();
    }

    private static long remembered(Rig rig) throws Exception {
        return new ObjectMapper()
                .readTree(rig.admin("/stats?format=json"))
                .at("/overload/cachesUsedBytes")
                .asLong();
    }

    private static int status(Rig rig, Head head) throws Exception {
        try (Peer client = rig.connect(Pairing.H1_TO_H1)) {
            PeerStream stream = client.open();
            stream.send(head, true);
            return stream.receiveFinal().status();
        }
    }

    /** Asks for a tunnel to a host that is not allowed. */
    private static String connect(Rig rig) throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), rig.port())) {
            socket.getOutputStream()
                    .write(("CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n"
                                    + "Proxy-Authorization: " + ANN + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
        }
    }

    @Test
    void whatIsRememberedIsChargedUntilAReloadHasNoUseForIt() throws Exception {
        Files.writeString(files.resolve("users"), "ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n"); // secret
        Files.writeString(files.resolve("jwks"), SigningKey.set(KEY));
        String basic = "basic {type: BasicAuth, basicAuth: {usersFile: " + files.resolve("users") + "}}";
        String jwt = "jwt {type: JWT, jwt: {providers: [{issuer: \"https://id.test\", jwksFile: "
                + files.resolve("jwks") + "}]}}";
        String connect = "connect: [{parentRefs: [{name: clear}], auth: {basic: {usersFile: " + files.resolve("users")
                + "}}, allow: [none.example]}]\n";
        String token = KEY.token("{\"iss\":\"https://id.test\",\"exp\":4000000000,\"sub\":\"ann\"}");
        try (Rig rig = Rig.start(PLAIN + connect + routes(basic, jwt))) {
            assertThat(remembered(rig)).isZero();
            assertThat(status(rig, Head.request("GET", "/basic", "authorization", ANN)))
                    .isEqualTo(200);
            assertThat(remembered(rig)).isBetween(LEAST, 2 * LEAST - 1);
            assertThat(status(rig, Head.request("GET", "/jwt", "authorization", "Bearer " + token)))
                    .isEqualTo(200);
            assertThat(remembered(rig)).isBetween(2 * LEAST, 3 * LEAST - 1);
            assertThat(connect(rig)).as("by a password that is right").isEqualTo("HTTP/1.1 403");
            assertThat(remembered(rig)).isBetween(3 * LEAST, 4 * LEAST - 1);
            rig.reload(PLAIN + connect + routes(basic, jwt) + "accessLog: {format: off}\n");
            assertThat(remembered(rig)).as("the same rules").isBetween(3 * LEAST, 4 * LEAST - 1);
            rig.reload(PLAIN + routes(basic, jwt));
            assertThat(remembered(rig)).as("without tunnels").isBetween(2 * LEAST, 3 * LEAST - 1);
            rig.reload(PLAIN + routes(basic));
            assertThat(remembered(rig)).as("without tokens").isBetween(LEAST, 2 * LEAST - 1);
            rig.reload(PLAIN);
            assertThat(remembered(rig)).as("without logins").isZero();
        }
    }
}
