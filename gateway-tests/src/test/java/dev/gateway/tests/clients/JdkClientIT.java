package dev.gateway.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The JDK's client, which begins cleartext HTTP/2 by {@code Upgrade: h2c}. */
@Tag("platform")
class JdkClientIT {
    @ParameterizedTest
    @CsvSource({
        "HTTP_1_1, false, HTTP_1_1",
        "HTTP_2, true, HTTP_2",
        "HTTP_2, false, HTTP_1_1",
    })
    void theClientGetsTheProtocolThatTheListenerAllows(
            HttpClient.Version asked, boolean upgrade, HttpClient.Version expected) throws Exception {
        byte[] body = new byte[500_000];
        new Random(5).nextBytes(body);
        for (Pairing pairing : new Pairing[] {Pairing.H1_TO_H1, Pairing.H1_TO_H2}) {
            try (Origin origin = Origin.start().on("/", Behaviors.text("hello")).on("/echo", Behaviors.echo());
                    Rig rig = Rig.to(origin, pairing)
                            .clear("h2cUpgrade: " + upgrade)
                            .start()) {
                HttpClient client = HttpClient.newBuilder().version(asked).build();
                URI root = URI.create("http://127.0.0.1:" + rig.port() + "/");

                HttpResponse<String> get = client.send(request(root).build(), BodyHandlers.ofString());
                assertThat(get.body()).isEqualTo("hello");
                assertThat(get.version()).isEqualTo(expected);
                assertThat(post(client, root, body).version()).isEqualTo(expected);

                // A first request with a body is answered as well, in whatever protocol.
                post(HttpClient.newBuilder().version(asked).build(), root, body);

                List<CompletableFuture<HttpResponse<String>>> many = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    many.add(client.sendAsync(request(root).build(), BodyHandlers.ofString()));
                }
                for (CompletableFuture<HttpResponse<String>> response : many) {
                    assertThat(response.get().body()).isEqualTo("hello");
                }
            }
        }
    }

    private static HttpResponse<byte[]> post(HttpClient client, URI root, byte[] body) throws Exception {
        HttpResponse<byte[]> response = client.send(
                request(root.resolve("/echo"))
                        .POST(BodyPublishers.ofByteArray(body))
                        .build(),
                BodyHandlers.ofByteArray());
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo(body);
        return response;
    }

    private static HttpRequest.Builder request(URI uri) {
        return HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(20));
    }
}
