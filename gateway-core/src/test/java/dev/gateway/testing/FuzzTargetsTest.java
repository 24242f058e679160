package dev.gateway.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The fuzz targets, each with the inputs of its corpus. Among these is each input for which a target has failed. */
class FuzzTargetsTest {
    private static final Path SOURCES = Path.of("src/test/java");
    private static final Path FUZZ = Path.of("../gateway-tests/fuzz");
    private static final Path CORPORA = FUZZ.resolve("corpus");

    /** Returns the names of the classes in the list of {@code gateway-tests/fuzz/run}. */
    static List<String> targets() throws IOException {
        return Files.readAllLines(FUZZ.resolve("targets")).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(line -> "dev.gateway." + line.split(" ")[0])
                .toList();
    }

    private static Path corpus(String target) {
        return CORPORA.resolve(target.replaceAll(".*\\.|Fuzz$", ""));
    }

    @ParameterizedTest
    @MethodSource("targets")
    void aTargetAcceptsItsCorpus(String target) throws Exception {
        FuzzTarget found = new FuzzTarget(target);
        List<Path> inputs = FuzzTarget.inputs(corpus(target));
        assertThat(inputs).isNotEmpty();
        for (Path input : inputs) {
            found.run(input);
        }
    }

    @Test
    void eachTargetIsRun() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            List<String> classes = files.map(file -> SOURCES.relativize(file).toString())
                    .filter(file -> file.endsWith("Fuzz.java"))
                    .map(file -> file.replace(".java", "").replace('/', '.'))
                    .toList();
            assertThat(targets()).containsExactlyInAnyOrderElementsOf(classes);
        }
    }

    @Test
    void eachCorpusHasATarget() throws IOException {
        assertThat(FuzzTarget.inputs(CORPORA))
                .containsExactlyInAnyOrderElementsOf(
                        targets().stream().map(FuzzTargetsTest::corpus).toList());
    }

    /** The run would print no coverage for a parser that does not exist, and no dictionary would help it. */
    @Test
    void theListNamesWhatExists() throws IOException {
        for (String line : Files.readAllLines(FUZZ.resolve("targets"))) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            List<String> words = List.of(line.split(" +"));
            if (!words.get(1).equals("-")) {
                assertThat(FUZZ.resolve("dictionaries").resolve(words.get(1))).isRegularFile();
            }
            assertThat(words).as("parsers").hasSizeGreaterThan(2);
            for (String parser : words.subList(2, words.size())) {
                String path = "src/main/java/dev/gateway/" + parser.replace('.', '/');
                assertThat(List.of(
                                Path.of(path),
                                Path.of(path + ".java"),
                                Path.of("../gateway-config", path),
                                Path.of("../gateway-config", path + ".java")))
                        .as(parser)
                        .anyMatch(Files::exists);
            }
        }
    }
}
