package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReloadHistoryTest {
    private final ReloadHistory history = new ReloadHistory();

    private static GatewayConfig config(int port) {
        String yaml = "listeners: [{name: web, address: 127.0.0.1, port: " + port + ", protocol: HTTP}]\n"
                + "routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {statusCode: 204}}]}]}]\n";
        LoadResult result =
                ConfigLoader.parse("gateway.yaml", yaml.getBytes(StandardCharsets.UTF_8), Path.of("."), Map.of());
        assertThat(result).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    private void add(int second, long generation, @Nullable ConfigChange change) {
        history.add(Instant.ofEpochSecond(second), "the file has changed", generation, change, List.of());
    }

    @Test
    void theLastChangeIsKeptWhileReloadsChangeNothing() {
        add(0, 1, ConfigChange.between(config(1), config(1)));
        assertThat(history.lastChange()).isEmpty();
        add(1, 2, ConfigChange.between(config(1), config(2)));
        add(2, 2, null);
        add(3, 3, ConfigChange.between(config(2), config(2)));
        assertThat(history.lastChange()).isEqualTo("generation 2 of 1970-01-01T00:00:01Z: changed listener web");
    }
}
