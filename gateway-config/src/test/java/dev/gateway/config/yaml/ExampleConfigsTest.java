package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.config.LoadResult;
import dev.gateway.config.LoadResult.Valid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ExampleConfigsTest {
    static Stream<Path> examples() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("../config"))) {
            return files.filter(file -> file.toString().endsWith(".yaml")).sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void everyExampleLoadsWithoutAWarning(Path file) {
        LoadResult result = ConfigLoader.load(file, Map.of());
        assertThat(result.problems()).isEmpty();
        assertThat(result).isInstanceOf(Valid.class);
    }

    @Test
    void theLongestExampleShowsEveryKey() throws IOException {
        String edge = Files.readString(Path.of("../config/edge.yaml"));
        Set<String> keys = new TreeSet<>();
        for (JsonNode properties :
                new ObjectMapper().readTree(ConfigSchema.json()).findValues("properties")) {
            properties.fieldNames().forEachRemaining(keys::add);
        }
        assertThat(keys).hasSizeGreaterThan(50).allSatisfy(key -> assertThat(edge)
                .containsPattern("\\b" + key + ":"));
    }

    @ParameterizedTest
    @MethodSource("examples")
    void whatIsPrintedOfAnExampleLoadsAsTheSame(Path file, @TempDir Path directory) throws IOException {
        String printed = ConfigPrinter.yaml(((Valid) ConfigLoader.load(file, Map.of())).config());
        Path copy = Files.writeString(directory.resolve("printed.yaml"), printed);
        LoadResult again = ConfigLoader.load(copy, Map.of());
        assertThat(again.problems()).isEmpty();
        assertThat(ConfigPrinter.yaml(((Valid) again).config())).isEqualTo(printed);
    }
}
