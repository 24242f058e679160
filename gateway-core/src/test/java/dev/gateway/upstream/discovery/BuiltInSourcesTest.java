package dev.gateway.upstream.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.EndpointConfig.Place;
import dev.gateway.config.yaml.schema.upstream.SourceType;
import dev.gateway.config.yaml.type.Types;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Other modules may have sources of endpoints. */
class BuiltInSourcesTest {
    /** A name in a registry. */
    public record Registered(String name) implements Place {
        @Override
        public String key() {
            return "registry";
        }

        @Override
        public String subject() {
            return name;
        }
    }

    /** That of another module. */
    public static final class Registry implements SourceFeature {
        @Override
        public SourceType<String, Registered> type() {
            return new SourceType<>(
                    "registry",
                    Types.NAME,
                    false,
                    "Name in a registry.",
                    Registered.class,
                    Registered::name,
                    (name, port) -> new Registered(name));
        }

        @Override
        public EndpointSource create(Place place, SourceContext context) {
            throw new UnsupportedOperationException("not in this test");
        }

        @Override
        public String emptiness() {
            return "has no entries";
        }
    }

    @Test
    void aSourceThatAModuleRegistersFollowsOurs(@TempDir Path directory) throws IOException {
        Path services = Files.createDirectories(directory.resolve("META-INF/services"));
        Files.writeString(services.resolve(SourceFeature.class.getName()), Registry.class.getName());
        URL[] module = {directory.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(module, getClass().getClassLoader())) {
            assertThat(BuiltInSources.all(loader))
                    .extracting(each -> each.type().key())
                    .containsExactly("dns", "srv", "file", "registry");
        }
    }
}
