package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.Gateway;
import dev.gateway.GatewayOptions;
import dev.gateway.assembly.PluginType;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.plugin.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code of a plugin is freed when the gateway stops. */
class PluginCodeTest {
    private record Idle() implements FilterPlugin {
        @Override
        public String type() {
            return "Idle";
        }

        @Override
        public String description() {
            return "Does nothing.";
        }

        @Override
        public Filter create(Settings settings) {
            return new Filter() {};
        }
    }

    private final Queue<String> calls = new ConcurrentLinkedQueue<>();

    private final class Code implements PluginType.Code {
        @Override
        public void retain() {
            calls.add("retain");
        }

        @Override
        public void release() {
            calls.add("release by " + Thread.currentThread().getName());
        }
    }

    @Test
    void theThreadThatEndsGenerationsFreesItOnce(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(
                directory.resolve("g.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: Idle, idle: {}}, {type: DirectResponse, directResponse: {}}]}]}]
                """);
        LoadResult result =
                ConfigLoader.load(file, Map.of(), List.of(new PluginType(new Idle(), "a test", new Code())));
        assertThat(result.problems()).isEmpty();
        Gateway.start(((LoadResult.Valid) result).config(), GatewayOptions.defaults())
                .close();
        assertThat(calls).containsExactly("retain", "release by reload");
    }
}
