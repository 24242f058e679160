package dev.gateway.observe.accesslog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.observe.AccessLogTemplate;
import dev.gateway.config.yaml.ConfigLoader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code docs/observability.md} lists the fields of the access log, and what it hides. */
class AccessLogPageTest {
    private static String section(String heading) throws IOException {
        String text = Files.readString(Path.of("../docs/observability.md"));
        int start = text.indexOf("\n### " + heading + "\n");
        assertThat(start).isPositive();
        return text.substring(start, text.indexOf("\n## ", start));
    }

    @Test
    void everyFieldIsListedAndNoOther() throws Exception {
        List<String> listed = section("Fields")
                .lines()
                .filter(line -> line.startsWith("| `") && !line.contains(":NAME`"))
                .map(line -> line.substring(3, line.indexOf('`', 3)))
                .toList();
        assertThat(listed)
                .containsExactlyInAnyOrderElementsOf(
                        LogField.all().stream().map(LogField::text).toList());
    }

    /** The page may add links, code font and a "see"; the words are those of {@code gateway schema}. */
    @Test
    void theMeaningOfAFieldIsTheSameOnThePageAndInTheSchema() throws Exception {
        String page = section("Fields").replace("`", "").replaceAll(", see \\[.*?]\\(.*?\\)", "");
        AccessLogTemplate.FIELDS.forEach(
                (field, meaning) -> assertThat(page).contains("| " + field + " | " + meaning + " |"));
    }

    @Test
    void everyParameterThatIsHiddenByDefaultIsListed() throws Exception {
        String yaml =
                """
                listeners: [{name: web, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                """;
        LoadResult result = ConfigLoader.parse(yaml);
        assertThat(result).isInstanceOf(LoadResult.Valid.class);
        GatewayConfig config = ((LoadResult.Valid) result).config();
        String redaction = section("Redaction");
        assertThat(config.accessLog().redact().queryKeys()).isNotEmpty().allSatisfy(key -> assertThat(redaction)
                .contains("`" + key + "`"));
    }
}
