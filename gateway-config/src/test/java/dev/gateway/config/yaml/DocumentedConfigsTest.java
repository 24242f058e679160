package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.LoadResult;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DocumentedConfigsTest {
    private static final Pattern BLOCK = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);

    /** A configuration in a document, named by where it stands. */
    record Documented(String place, String yaml) {
        @Override
        public String toString() {
            return place;
        }
    }

    static Stream<Documented> documented() throws IOException {
        List<Documented> found = new ArrayList<>();
        for (Path file : List.of(Path.of("../README.md"), Path.of("../deploy/README.md"))) {
            Matcher block = BLOCK.matcher(Files.readString(file));
            while (block.find()) {
                found.add(new Documented(file + " block " + (found.size() + 1), block.group(1)));
            }
        }
        return found.stream();
    }

    @ParameterizedTest
    @MethodSource("documented")
    void everyConfigurationInTheDocumentsLoads(Documented documented) {
        byte[] yaml = documented.yaml().getBytes(StandardCharsets.UTF_8);
        LoadResult result =
                ConfigLoader.parse(documented.place(), yaml, Path.of("..").toAbsolutePath(), Map.of());
        assertThat(result.problems()).isEmpty();
    }

    @Test
    void theReadmeShowsThreeStarters() throws IOException {
        assertThat(documented().filter(documented -> documented.place().startsWith("../README.md")))
                .hasSizeGreaterThanOrEqualTo(3);
    }

    /** A file that has these mistakes. */
    private static final String BAD =
            """
            listeners:
              - {name: web, port: 80800, protocol: HTPP}
            routes:
              - rules:
                  - backendRef: [{name: app}]
            upstreams:
              - name: app
                endpoints: [{host: 127.0.0.1, port: 9000}]
                timeouts: {connect: 5 s}
            """;

    @Test
    void validateSaysWhatTheReadmeShows() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("../README.md"));
        List<String> shown = lines.subList(lines.indexOf("    $ gateway validate bad.yaml") + 1, lines.size()).stream()
                .takeWhile(line -> line.startsWith("    "))
                .map(String::strip)
                .toList();
        LoadResult result =
                ConfigLoader.parse("bad.yaml", BAD.getBytes(StandardCharsets.UTF_8), Path.of("."), Map.of());
        assertThat(shown).hasSize(4);
        assertThat(result.problems().stream().map(Object::toString).toList()).containsSubsequence(shown);
    }
}
