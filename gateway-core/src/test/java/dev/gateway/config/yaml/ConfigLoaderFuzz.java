package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.LoadResult.Valid;
import dev.gateway.config.Problem;
import dev.gateway.config.Problem.Severity;
import dev.gateway.config.value.ConfigEquality;
import dev.gateway.config.value.Position;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Fuzz target: a configuration file. Either it is valid, and what is printed of it loads as the same, or each mistake has its
 * place in the file. No message shows the value of a variable.
 */
final class ConfigLoaderFuzz {
    private static final String NAME = "fuzz.yaml";
    private static final Path DIRECTORY = Path.of("/nonexistent/gateway");
    private static final String SECRET = "kT9-secret-zQ4";
    private static final Map<String, String> ENVIRONMENT = Map.of("SECRET", SECRET, "PORT", "8080", "EMPTY", "");
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    /** Breaks of lines for YAML that editors do not agree on. */
    private static final Pattern OTHER_BREAK = Pattern.compile("\\r(?!\\n)|[\\x{85}\\x{2028}\\x{2029}]");

    private ConfigLoaderFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        LoadResult result = ConfigLoader.parse(NAME, input, DIRECTORY, ENVIRONMENT, NOW);
        assertThat(result.problems().stream().anyMatch(problem -> problem.severity() == Severity.ERROR))
                .isEqualTo(result instanceof LoadResult.Invalid);
        String text = new String(input, StandardCharsets.UTF_8);
        List<String> lines = text.lines().toList();
        boolean hasOtherBreaks = OTHER_BREAK.matcher(text).find();
        for (Problem problem : result.problems()) {
            check(problem);
            if (!hasOtherBreaks && problem.position().file().equals(NAME)) {
                checkPosition(problem, lines);
            }
        }
        if (result instanceof Valid valid) {
            checkPrinted(valid.config(), input);
        }
    }

    private static void check(Problem problem) {
        assertThat(problem.message()).isNotBlank();
        assertThat(problem.message()).doesNotContain(SECRET);
        assertThat(problem.message().chars().noneMatch(Character::isISOControl))
                .as(problem.message())
                .isTrue();
    }

    private static void checkPosition(Problem problem, List<String> lines) {
        Position at = problem.position();
        assertThat(at.line()).as(problem.toString()).isBetween(1, lines.size() + 1);
        int length = at.line() <= lines.size() ? lines.get(at.line() - 1).length() : 0;
        assertThat(at.column()).as(problem.toString()).isBetween(1, length + 1);
    }

    private static void checkPrinted(GatewayConfig config, byte[] input) {
        String printed = ConfigPrinter.yaml(config);
        assertThat(printed).doesNotContain(SECRET);
        boolean hasVariables = new String(input, StandardCharsets.UTF_8).contains("${");
        LoadResult again =
                ConfigLoader.parse("printed.yaml", printed.getBytes(StandardCharsets.UTF_8), DIRECTORY, Map.of(), NOW);
        if (hasVariables && !(again instanceof Valid)) {
            return; // what stands for a value that is not shown need not be a value
        }
        assertThat(again.problems().stream().filter(problem -> problem.severity() == Severity.ERROR))
                .as(printed)
                .isEmpty();
        GatewayConfig read = ((Valid) again).config();
        assertThat(ConfigPrinter.yaml(read)).isEqualTo(printed);
        assertThat(hasVariables || ConfigEquality.isSame(read, config))
                .as(printed)
                .isTrue();
    }
}
