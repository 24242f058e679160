package dev.gateway.upstream.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.Gateway;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.files.StartException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of a configuration whose sources cannot be made. */
class EndpointFeedsTest {
    private static final String FILE = "endpoints.yaml";

    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = Files.writeString(directory.resolve(FILE), "- {host: 127.0.0.1, port: 9}\n");
    }

    private GatewayConfig config(String endpoint) {
        String yaml = "listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]\n"
                + "routes: [{rules: [{backendRefs: [{name: app}]}]}]\n"
                + "upstreams: [{name: app, endpoints: [{" + endpoint + "}]}]\n";
        LoadResult result =
                ConfigLoader.parse("gateway.yaml", yaml.getBytes(StandardCharsets.UTF_8), directory, Map.of());
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    @Test
    void aFileThatHasGoneSinceTheConfigurationWasReadPreventsTheStart() throws IOException {
        GatewayConfig config = config("file: " + FILE);
        Files.delete(file);
        assertThatThrownBy(() -> Gateway.start(config).close())
                .isInstanceOf(StartException.class)
                .hasMessage("gateway.yaml:3:37: there is no file " + file);
    }

    @Test
    void aReloadThatNeedsAFileThatHasGoneChangesNothing() throws Exception {
        GatewayConfig next = config("file: " + FILE);
        Files.writeString(file, "- {host: 127.0.0.1}\n");
        try (Gateway gateway = Gateway.start(config("host: 127.0.0.1, port: 9"))) {
            assertThatThrownBy(() -> gateway.reload(next))
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining(file + ":1:10: 'host' and 'port' belong together");
            Files.writeString(file, "[]\n");
            gateway.reload(next);
            gateway.reload(config("host: 127.0.0.1, port: 9"));
            assertThat(gateway.port("web")).isPositive();
        }
    }
}
