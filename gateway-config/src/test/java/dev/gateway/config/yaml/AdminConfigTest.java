package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.AdminConfig;
import dev.gateway.config.LoadResult;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class AdminConfigTest {
    private static final String YAML =
            """
            listeners: [{name: web, port: 8080, protocol: HTTP}]
            routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
            """;

    @TempDir
    Path directory;

    private LoadResult load(String admin) {
        byte[] yaml = (YAML + "admin: " + admin + "\n").getBytes(StandardCharsets.UTF_8);
        return ConfigLoader.parse("test.yaml", yaml, directory, Map.of());
    }

    private static AdminConfig admin(LoadResult result) {
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return Objects.requireNonNull(((LoadResult.Valid) result).config().admin());
    }

    @Test
    void aTokenIsReadFromItsFile() throws IOException {
        Path file = Files.writeString(directory.resolve("token"), "0123456789abcdef\n");
        LoadResult result = load("{tokenFile: token}");
        assertThat(admin(result).tokenFile()).isEqualTo(file);
        String printed = ConfigPrinter.yaml(((LoadResult.Valid) result).config());
        assertThat(printed).contains("tokenFile: " + file).doesNotContain("0123456789abcdef");
    }

    @Test
    void noTokenIsTheDefault() {
        assertThat(admin(load("{}")).tokenFile()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "tiny", "has a space in the middle", "0123456789abcdef\n0123456789abcdef"})
    void whatIsNoTokenIsAnErrorThatDoesNotShowIt(String content) throws IOException {
        Files.writeString(directory.resolve("token"), content);
        List<String> problems = load("{tokenFile: token}").problems().stream()
                .map(Object::toString)
                .toList();
        assertThat(problems).hasSize(1).allMatch(problem -> problem.startsWith("test.yaml:3:20: tokenFile: "));
        if (!content.isEmpty()) {
            assertThat(problems.get(0)).doesNotContain(content);
        }
    }

    @Test
    void aTokenFileThatIsMissingIsAnError() {
        assertThat(load("{tokenFile: token}").problems())
                .extracting(Object::toString)
                .containsExactly("test.yaml:3:20: tokenFile: there is no file " + directory.resolve("token"));
    }
}
