package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.deployment.FullFormParts.Part;
import dev.gateway.tests.deployment.TestSource.TestMethod;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each test runs in one tier: in one run of {@code mvn verify}, or, if it has the tag {@code full}, in a part of the full form. */
@Timeout(60)
class TiersTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /** Minutes that a part of the full form may take. */
    private static final int PART_MINUTES = 60;

    /**
     * All parts may take three hours, 40 minutes for attacks on memory, half an hour for fuzz targets, a quarter of an hour for
     * applications of others, ten minutes for HTTP clients and Docker, and eight for made messages.
     */
    private static final int ALL_MINUTES = 180 + 40 + 30 + 15 + 10 + 8;

    private static List<TestSource> sources() throws IOException {
        List<TestSource> sources = new ArrayList<>();
        for (String module : TestSource.MODULES) {
            sources.addAll(TestSource.of(ROOT, module));
        }
        return sources;
    }

    private static Tiers tiers() throws IOException {
        return Tiers.read(ROOT, FullFormParts.read(ROOT).tags());
    }

    @Test
    void eachTestRunsInOneTier() throws IOException {
        assertThat(tiers().problems(sources())).isEmpty();
    }

    @Test
    void noMoreThanOneTestInTwentyIsLeftToTheFullForm() throws IOException {
        List<TestMethod> tests =
                sources().stream().flatMap(source -> source.tests().stream()).toList();
        assertThat(tests).hasSizeGreaterThan(4_000);
        assertThat(tests)
                .filteredOn(test -> test.tags().contains(Tiers.FULL))
                .hasSizeLessThanOrEqualTo(tests.size() / 20);
    }

    @Test
    void eachPartRunsClassesThatExist() throws IOException {
        Set<String> names = sources().stream()
                .filter(source -> !source.isAbstract())
                .map(TestSource::name)
                .collect(Collectors.toSet());
        for (Map.Entry<String, Part> part : FullFormParts.read(ROOT).parts().entrySet()) {
            assertThat(part.getValue().commands())
                    .as(part.getKey())
                    .isNotEmpty()
                    .allSatisfy(command -> assertThat(command)
                            .first()
                            .isIn(
                                    "tests",
                                    "tagged",
                                    "random-order",
                                    "suites",
                                    "peers",
                                    "clients",
                                    "engine",
                                    "applications",
                                    "fuzz",
                                    "differential"));
            assertThat(names).as(part.getKey()).containsAll(part.getValue().classes());
        }
    }

    @Test
    void eachPublicSuiteIsRun() throws IOException {
        List<String> suites = Pattern.compile("(?m)^\\| (\\w+) \\| \\d{4}-")
                .matcher(Files.readString(ROOT.resolve("gateway-tests/suites/last-counts.md")))
                .results()
                .map(row -> row.group(1))
                .toList();
        assertThat(suites).isNotEmpty();
        assertThat(FullFormParts.read(ROOT).parts().values().stream()
                        .flatMap(part -> part.commands().stream())
                        .filter(command -> command.get(0).equals("suites"))
                        .flatMap(command -> command.stream().skip(1))
                        .filter(word -> !word.equals("--may-lack")))
                .containsExactlyInAnyOrderElementsOf(suites);
    }

    /** A property that no test reads would run the short form. */
    @Test
    void aTestReadsEachPropertyThatAPartSets() throws IOException {
        List<String> texts = new ArrayList<>();
        for (String module : TestSource.MODULES) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".java")).toList()) {
                    texts.add(Files.readString(file));
                }
            }
        }
        for (Part part : FullFormParts.read(ROOT).parts().values()) {
            for (List<String> command : part.commands()) {
                for (String option : command) {
                    if (option.startsWith("-D")) {
                        String read = "(\"" + option.substring(2).replaceAll("=.*", "") + "\"";
                        assertThat(texts).as(option).anyMatch(text -> text.contains(read));
                    }
                }
            }
        }
    }

    @Test
    void partsAreShortEnough() throws IOException {
        FullFormParts table = FullFormParts.read(ROOT);
        assertThat(table.parts().values()).extracting(Part::minutes).allMatch(minutes -> minutes <= PART_MINUTES);
        assertThat(table.parts().values().stream().mapToInt(Part::minutes).sum())
                .isLessThanOrEqualTo(ALL_MINUTES);
    }

    @Test
    void partsDependOnPathsThatExist() throws IOException {
        FullFormParts table = FullFormParts.read(ROOT);
        assertThat(table.paths())
                .allSatisfy(path -> assertThat(ROOT.resolve(path)).exists());
        assertThat(table.parts().values())
                .allSatisfy(part -> assertThat(part.paths()).isNotEmpty());
    }

    @Test
    void theFullFormRunsEachNight() throws IOException {
        assertThat(ROOT.resolve(".github/workflows/full.yaml"))
                .content()
                .containsPattern("(?m)^    - cron: \"\\d+ \\d+ \\* \\* \\*\"$")
                .contains(" .ci/run --full\n");
    }

    private static List<String> problems(String module, String name, String body) throws IOException {
        Tiers tiers = Tiers.read(ROOT, Set.of("some", "other"));
        return tiers.problems(List.of(TestSource.parse(module, name, body.replace('|', '\n'))));
    }

    @ParameterizedTest
    @CsvSource({
        "gateway-core, SomeTest, class SomeTest {|    @Test|    void a() {}",
        "gateway-tests, SomeIT, class SomeIT {|    @Test|    void a() {}",
        "gateway-tests, SomeIT, @Tag(\"alone\")|@Tag(\"jar\")|class SomeIT {|    @Test|    void a() {}",
        "gateway-tests, SomeIT, class SomeIT {|    @Tag(\"full\")|    @Tag(\"some\")|    @Test|    void a() {}",
        "gateway-core, SomeTest, @Tag(\"full\")|@Tag(\"some\")|class SomeTest {|    @Test|    void a() {}",
        "gateway-core, Some, record Some() {}"
    })
    void theCheckAcceptsWhatRuns(String module, String name, String body) throws IOException {
        assertThat(problems(module, name, body)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "gateway-core, SomeTests, class SomeTests {|    @Test|    void a() {}, are in classes named",
        "gateway-core, SomeIT, class SomeIT {|    @Test|    void a() {}, are in classes named",
        "gateway-core, Some, abstract class Some {|    @Test|    void a() {}, nobody extends it",
        "gateway-core, SomeTest, class SomeTest {|    @Disabled|    @Test|    void a() {}, @Disabled leaves out tests",
        "gateway-core, SomeTest, class SomeTest {|    class A {|        @Test|        void a() {}, nested",
        "gateway-core, SomeTest, class SomeTest {|    @Tag(SOME)|    @Test|    void a() {}, a tag is a text",
        "gateway-core, SomeTest, class SomeTest {|    @Tag(\"some\")|    void a() {}, 'a has a tag, but is no test'",
        "gateway-core, SomeTest, @Tag(\"slow\")|class SomeTest {|    @Test|    void a() {}, nobody knows the tags [slow]",
        "gateway-core, SomeTest, @Tag(\"full\")|class SomeTest {|    @Test|    void a() {}, name 0 parts",
        "gateway-core, SomeTest, @Tag(\"some\")|class SomeTest {|    @Test|    void a() {}, without the tag full",
        "gateway-tests, SomeIT, @Tag(\"full\")|@Tag(\"some\")|@Tag(\"other\")|class SomeIT {|    @Test|    void a() {}, name 2 parts"
    })
    void theCheckNoticesWhatDoesNotRun(String module, String name, String body, String problem) throws IOException {
        assertThat(problems(module, name, body)).singleElement().asString().contains(problem);
    }
}
