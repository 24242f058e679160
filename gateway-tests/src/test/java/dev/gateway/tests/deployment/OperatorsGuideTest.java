package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.Cause;
import dev.gateway.upstream.Health;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The pages for operators explain every failure cause, every alert and every state of an endpoint, and no other. */
class OperatorsGuideTest {
    private static final Path DOCS = Path.of("../docs");
    private static final Set<String> AT_FAULT =
            Set.of("client", "plugin", "upstream", "network", "DNS", "configuration", "operator", "gateway", "nobody");

    /** No answer of the gateway has one of these: something has been sent already, or nothing brings them about. */
    private static final Set<Cause> WITHOUT_A_STATUS = Set.of(
            Cause.UPSTREAM_RESET_IN_BODY,
            Cause.RETRY_LIMIT,
            Cause.IDLE_TIMEOUT,
            Cause.MAX_DURATION,
            Cause.ADMIN_CLOSED);

    private static Stream<List<String>> rows(String page, String heading) throws IOException {
        String text = Files.readString(DOCS.resolve(page));
        String start = "\n## " + heading + "\n";
        assertThat(text).contains(start);
        String section = text.substring(text.indexOf(start) + start.length());
        int end = section.indexOf("\n## ");
        return section.substring(0, end < 0 ? section.length() : end)
                .lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> Arrays.stream(
                                line.substring(1, line.lastIndexOf('|')).split("\\|", -1))
                        .map(String::strip)
                        .toList());
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNKNOWN")
    void everyCauseIsExplained(Cause cause) throws Exception {
        List<List<String>> rows = rows("troubleshooting.md", "Causes")
                .filter(cells -> cells.get(0).equals("`" + cause.label() + "`"))
                .toList();
        assertThat(rows).hasSize(1);
        List<String> cells = rows.get(0);
        assertThat(cells).hasSize(5).noneMatch(String::isEmpty);
        if (WITHOUT_A_STATUS.contains(cause)) {
            assertThat(cells.get(1)).doesNotContainPattern("[0-9]");
        } else {
            assertThat(cells.get(1)).contains(String.valueOf(cause.status()));
        }
        assertThat(AT_FAULT).containsAll(List.of(cells.get(3).split(", ")));
    }

    @Test
    void noOtherCauseIsExplained() throws Exception {
        List<String> labels = Arrays.stream(Cause.values()).map(Cause::label).toList();
        assertThat(rows("troubleshooting.md", "Causes")
                        .map(cells -> cells.get(0).replace("`", "")))
                .isSubsetOf(labels);
    }

    @Test
    void everyAlertIsExplained() throws Exception {
        List<String> alerts = Files.readAllLines(Path.of("../deploy/prometheus/gateway.rules.yaml")).stream()
                .map(String::strip)
                .filter(line -> line.startsWith("- alert: "))
                .map(line -> line.substring("- alert: ".length()))
                .toList();
        assertThat(alerts).isNotEmpty();
        assertThat(rows("observability.md", "Alerts and the Grafana dashboard")
                        .map(cells -> cells.get(0).replace("`", ""))
                        .flatMap(Pattern.compile(", ")::splitAsStream))
                .containsExactlyInAnyOrderElementsOf(alerts);
    }

    @Test
    void everyStateOfAnEndpointIsExplained() throws Exception {
        List<String> states = Arrays.stream(Health.State.values())
                .map(state -> state.name().toLowerCase(Locale.ROOT))
                .toList();
        assertThat(rows("observability.md", "Dashboard")
                        .map(cells -> cells.get(0).replace("`", "")))
                .containsExactlyInAnyOrderElementsOf(states);
    }
}
