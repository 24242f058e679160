package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A running gateway takes over files that are new, changed or removed, and a mistake in one of them changes nothing. */
@Tag("jar")
@Timeout(120)
class SeveralFilesIT {
    private static final String YAML =
            """
            include: [sites/*.yaml]
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            admin: {address: 127.0.0.1, port: 0}
            accessLog: {format: "off"}
            """;

    private static String site(String name, String body) {
        return """
                routes:
                  - name: %1$s
                    rules:
                      - matches: [{path: {type: Exact, value: /%1$s}}]
                        filters: [{type: DirectResponse, directResponse: {body: %2$s}}]
                """
                .formatted(name, body);
    }

    /** Returns status and body. */
    private static String ask(GatewayJar gateway, String path) throws IOException, InterruptedException {
        HttpResponse<String> response = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.port("web") + path))
                                .timeout(Duration.ofSeconds(20))
                                .build(),
                        BodyHandlers.ofString());
        return response.statusCode() + " " + response.body();
    }

    @Test
    void newChangedAndRemovedFilesTakeEffectAndOneMistakeKeepsEverything() throws Exception {
        try (GatewayJar gateway = GatewayJar.of(YAML)
                .file("sites/a.yaml", site("a", "first").getBytes(StandardCharsets.UTF_8))
                .start()) {
            Path a = gateway.directory().resolve("sites/a.yaml");
            Path b = gateway.directory().resolve("sites/b.yaml");
            assertThat(ask(gateway, "/a")).isEqualTo("200 first");
            assertThat(ask(gateway, "/b")).startsWith("404");

            Files.writeString(b, site("b", "added"));
            gateway.awaitLog("generation 2 is active");
            assertThat(gateway.log()).contains("sites/b.yaml has changed");
            assertThat(ask(gateway, "/b")).isEqualTo("200 added");

            Files.writeString(a, site("a", "second"));
            gateway.awaitLog("generation 3 is active");
            assertThat(ask(gateway, "/a")).isEqualTo("200 second");

            // One look finds both: the gateway waits until nothing has changed for a second.
            Files.writeString(b, site("a", "broken"));
            Files.writeString(a, site("a", "third"));
            gateway.awaitLog("generation 3 stays active");
            assertThat(gateway.log())
                    .contains("sites/b.yaml:2:11: duplicate route 'a': first defined in ")
                    .contains("sites/a.yaml:2:11");
            assertThat(gateway.admin("/ready", Duration.ofSeconds(20)).body()).contains("sites/b.yaml:2:11");
            assertThat(ask(gateway, "/a")).isEqualTo("200 second");
            assertThat(ask(gateway, "/b")).isEqualTo("200 added");

            Files.delete(b);
            gateway.awaitLog("generation 4 is active");
            assertThat(ask(gateway, "/a")).isEqualTo("200 third");
            assertThat(ask(gateway, "/b")).startsWith("404");
        }
    }
}
