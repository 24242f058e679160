package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.LoadedClasses;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code gateway.jar run} does not load before something needs it; {@link EmbeddedIT} has the same for an application. */
@Tag("jar")
@Timeout(120)
class LazyLoadingIT {
    @TempDir
    Path directory;

    @Test
    void aLibraryIsLoadedWhenItsFeatureIsUsedAndNotBefore() throws Exception {
        Path file = directory.resolve("classes");
        try (GatewayJar gateway = GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {body: hello}}]}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        """)
                .jvm(LoadedClasses.option(file))
                .start()) {
            assertThat(HttpClient.newHttpClient()
                            .send(
                                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.port("web") + "/"))
                                            .build(),
                                    BodyHandlers.ofString())
                            .body())
                    .isEqualTo("hello");
            gateway.json("/stats?format=json");
            LoadedClasses before = LoadedClasses.read(file);
            assertThat(before.of("dev.gateway.runtime.process.log.LogbackProvider"))
                    .hasSize(1);
            assertThat(before.of("ch.qos.logback.")).isNotEmpty().noneMatch(name -> name.contains(".joran."));
            assertThat(before.ofLibrariesOnDemand()).isEmpty();

            gateway.admin("/metrics", Duration.ofSeconds(20)); // shows that the list would tell
            assertThat(LoadedClasses.read(file).ofLibrariesOnDemand())
                    .anyMatch(name -> name.startsWith("io.micrometer."))
                    .anyMatch(name -> name.startsWith("io.prometheus."));
        }
    }
}
