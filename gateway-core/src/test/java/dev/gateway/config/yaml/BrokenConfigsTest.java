package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.gateway.config.LoadResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds parser and schema to the same verdicts over a corpus of broken files, and pins what each is told. */
class BrokenConfigsTest {
    private static final Path RESOURCES = Path.of("src/test/resources").toAbsolutePath();
    private static final Path CORPUS = RESOURCES.resolve("broken");
    private static final Schema SCHEMA = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
            .getSchema(ConfigSchema.json());

    /**
     * One file of the corpus.
     *
     * @param verdict of the schema: rejects, accepts or unseen
     */
    record Case(String name, String verdict, List<String> problems) {
        Path file() {
            return CORPUS.resolve(name + ".yaml");
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static List<Case> cases() throws IOException {
        List<Case> cases = new ArrayList<>();
        for (String line : Files.readAllLines(CORPUS.resolve("expected.txt"))) {
            if (line.startsWith("== ")) {
                String[] words = line.split(" ");
                cases.add(new Case(words[1], words[2], new ArrayList<>()));
            } else if (!line.isEmpty() && !line.startsWith("#")) {
                Case current = cases.get(cases.size() - 1);
                current.problems()
                        .add(current.file().getFileName() + ":" + line.replace("{resources}", RESOURCES.toString()));
            }
        }
        return cases;
    }

    @Test
    void everyFileOfTheCorpusIsExpected() throws IOException {
        try (Stream<Path> files = Files.list(CORPUS)) {
            List<Path> broken = files.filter(file -> file.toString().endsWith(".yaml"))
                    .sorted()
                    .toList();
            assertThat(cases().stream().map(Case::file).sorted()).containsExactlyElementsOf(broken);
            assertThat(broken).hasSizeGreaterThanOrEqualTo(40);
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theOperatorIsToldEveryMistakeAndItsPlace(Case each) throws IOException {
        String name = each.file().getFileName().toString();
        LoadResult result = ConfigLoader.parse(name, Files.readAllBytes(each.file()), CORPUS, Map.of());
        assertThat(result).isInstanceOf(LoadResult.Invalid.class);
        assertThat(result.problems().stream().map(Object::toString)).containsExactlyElementsOf(each.problems());
    }

    static List<Case> casesWithAVerdict() throws IOException {
        return cases().stream().filter(each -> !each.verdict().equals("unseen")).toList();
    }

    @ParameterizedTest
    @MethodSource("casesWithAVerdict")
    void anEditorSeesWhatASchemaCanSee(Case each) throws IOException {
        JsonNode tree = new YAMLMapper().readTree(each.file().toFile());
        assertThat(SCHEMA.validate(tree).isEmpty()).isEqualTo(each.verdict().equals("accepts"));
    }

    @ParameterizedTest
    @MethodSource("dev.gateway.config.yaml.ExampleConfigsTest#examples")
    void anEditorFindsNothingWrongWithTheExamples(Path file) throws IOException {
        assertThat(SCHEMA.validate(new YAMLMapper().readTree(file.toFile()))).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("dev.gateway.config.yaml.ExampleConfigsTest#examples")
    void anEditorFindsNothingWrongWithWhatIsPrinted(Path file) throws IOException {
        LoadResult.Valid loaded = (LoadResult.Valid) ConfigLoader.load(file, Map.of());
        assertThat(SCHEMA.validate(new YAMLMapper().readTree(ConfigPrinter.yaml(loaded.config()))))
                .isEmpty();
    }
}
