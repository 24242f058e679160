package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.config.LoadResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The page of all keys is what the schema says, and its examples load. */
class ConfigReferenceTest {
    private static final Path PAGE = Path.of("../docs/reference/configuration.md");
    private static final Path SOURCES = Path.of("src/test/reference");
    private static final String REWRITE = "bin/test ConfigReferenceTest -- -Dreference=write";

    private static JsonNode schema() throws IOException {
        return new ObjectMapper().readTree(ConfigSchema.json());
    }

    static Stream<Path> examples() throws IOException {
        try (Stream<Path> files = Files.list(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".yaml")).sorted().toList().stream();
        }
    }

    @Test
    void thePageSaysWhatTheSchemaSays() throws IOException {
        Map<String, String> examples = new TreeMap<>();
        for (Path file : examples().toList()) {
            examples.put(file.getFileName().toString().replace(".yaml", ""), Files.readString(file));
        }
        String page =
                new ConfigReference(schema(), examples).page(Files.readString(SOURCES.resolve("introduction.md")));
        if ("write".equals(System.getProperty("reference"))) {
            Files.createDirectories(PAGE.getParent());
            Files.writeString(PAGE, page);
        }
        assertThat(Files.readString(PAGE))
                .as("the page is out of date: run %s", REWRITE)
                .isEqualTo(page);
    }

    @ParameterizedTest
    @MethodSource("examples")
    void everyExampleLoadsAndShowsItsKey(Path file) throws IOException {
        String key = file.getFileName().toString().replace(".yaml", "");
        Path files = Files.isDirectory(SOURCES.resolve(key)) ? SOURCES.resolve(key) : Path.of("..");
        LoadResult result =
                ConfigLoader.parse(file.toString(), Files.readAllBytes(file), files.toAbsolutePath(), Map.of());
        assertThat(result.problems()).isEmpty();
        assertThat(Files.readString(file)).containsPattern("(?m)^" + Pattern.quote(key) + ":");
    }

    /** Two headings with one anchor would lead links astray. */
    @Test
    void everyHeadingHasItsOwnAnchorAndEveryLinkLeadsToOne() throws IOException {
        List<String> lines = Files.readAllLines(PAGE);
        Map<String, String> anchors = new LinkedHashMap<>();
        for (String line : lines) {
            if (line.startsWith("#")) {
                String anchor = line.replaceAll("^#+ ", "")
                        .toLowerCase(java.util.Locale.ROOT)
                        .replaceAll("[^\\w\\- ]", "")
                        .replace(' ', '-');
                assertThat(anchors.put(anchor, line)).as(line).isNull();
            }
        }
        for (String line : lines) {
            Pattern.compile("\\]\\(#([^)]*)\\)").matcher(line).results().forEach(link -> assertThat(anchors)
                    .as(line)
                    .containsKey(link.group(1)));
        }
    }

    /** A description is a sentence, or several short ones. */
    @Test
    void everyDescriptionIsMadeOfShortSentences() throws IOException {
        for (JsonNode description : schema().findValues("description")) {
            String text = description.isTextual() ? description.textValue() : "Not a description.";
            assertThat(text).matches("(?s)[A-Za-z0-9/*'{].*\\.");
            for (String sentence : text.split("(?<=[.:;]) ")) {
                assertThat(sentence.split(" ")).as(sentence).hasSizeLessThanOrEqualTo(25);
            }
        }
    }
}
