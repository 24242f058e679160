package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Neither problems nor the printed configuration show what may be a secret. */
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class SecretValuesTest {
    private static final String SECRET = "sk-live-4f9aSECRET77";
    private static final String YAML =
            """
            listeners: [{name: web, port: 8080, protocol: HTTP}]
            routes: [{rules: [{%s}]}]
            """;

    @TempDir
    Path directory;

    private LoadResult load(String rule, String value) {
        byte[] yaml = YAML.formatted(rule).getBytes(StandardCharsets.UTF_8);
        return ConfigLoader.parse("test.yaml", yaml, directory, Map.of("TOKEN", value, "EMPTY", ""));
    }

    private List<String> problems(String rule, String value) {
        return load(rule, value).problems().stream().map(Problem::message).toList();
    }

    private static String header(String name, String value) {
        return "filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: %s, value: %s}]}},"
                        .formatted(name, value)
                + " {type: DirectResponse, directResponse: {}}]";
    }

    @Test
    void aHeaderThatEndsInALineBreakIsToldByItsPlaceAndItsVariable() {
        assertThat(problems(header("Authorization", "\"Bearer ${TOKEN}\""), SECRET + "\n"))
                .containsExactly(
                        "value: expected a header value: no line breaks or other control characters, no space at"
                                + " either end; character 28 is a line break (not shown, because it comes from TOKEN)");
    }

    @Test
    void aHeaderIsNotShownEvenIfItIsWritten() {
        assertThat(problems(header("X-Any", "\"" + SECRET + "\\n\""), ""))
                .containsExactly(
                        "value: expected a header value: no line breaks or other control characters, no space at"
                                + " either end; character 21 is a line break");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "timeouts: {request: '${TOKEN}'}, filters: [{type: DirectResponse, directResponse: {}}]",
                "filters: [{type: DirectResponse, directResponse: {statusCode: '${TOKEN}'}}]",
                "filters: [{type: '${TOKEN}'}]",
                "matches: [{method: '${TOKEN}'}], filters: [{type: DirectResponse, directResponse: {}}]",
                "matches: [{path: {value: '${TOKEN}'}}], filters: [{type: DirectResponse, directResponse: {}}]",
                "matches: [{path: {value: '${TOKEN}', type: RegularExpression}}], backendRefs: [{name: '${TOKEN}'}]",
                "backendRefs: [{name: '${TOKEN}'}]",
                "backendRefs: [{name: 'a${UNSET:-sk-live-4f9aSECRET77}'}]",
                "webSocket: {allowedOrigins: ['${TOKEN}']}, backendRefs: [{name: x}]",
                "filters: [{type: URLRewrite, urlRewrite: {hostname: '${TOKEN}()'}}]",
                "filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: '${TOKEN}'}}}]",
                "filters: [{type: URLRewrite, urlRewrite: '${TOKEN}'}]",
                "backendRefs: '${TOKEN}'",
                "backendRefs: [{name: '${MY TOKEN:-sk-live-4f9aSECRET77}'}]",
            })
    void noProblemShowsWhatCameFromAVariable(String rule) {
        for (String value : new String[] {SECRET, SECRET + "(", SECRET + "\n", SECRET.repeat(5)}) {
            assertThat(problems(rule, value)).isNotEmpty().allSatisfy(problem -> assertThat(problem)
                    .doesNotContainIgnoringCase("sk-live")
                    .doesNotContain("SECRET"));
        }
    }

    @Test
    void aValueInAFileIsNotShown() throws IOException {
        Files.writeString(directory.resolve("key"), SECRET + "\n");
        Files.writeString(directory.resolve("broken"), SECRET + "\n" + SECRET);
        String rule = "filters: [{type: DirectResponse, directResponse: {headers: [{name: X-Key, valueFile: %s}]}}]";
        LoadResult result = load(rule.formatted("key"), "");
        assertThat(result.problems()).isEmpty();
        String printed = ConfigPrinter.yaml(((LoadResult.Valid) result).config());
        assertThat(printed).doesNotContain(SECRET).contains("valueFile: ", "/key");
        assertThat(((LoadResult.Valid) result).config().toString()).doesNotContain(SECRET);
        assertThat(problems(rule.formatted("broken"), ""))
                .singleElement()
                .asString()
                .contains("byte 21 is a line break")
                .doesNotContain("SECRET");
    }

    @Test
    void whatIsNoSecretIsStillShown() {
        assertThat(problems("timeouts: {request: 5x}, filters: [{type: DirectResponse, directResponse: {}}]", ""))
                .singleElement()
                .asString()
                .contains("not '5x'");
    }

    @Test
    void aPasswordThatLooksLikeAnAliasOrATagIsNotShown() {
        for (String sign : new String[] {"*", "!"}) {
            assertThat(problems(header("X-Any", sign + "secret77 "), ""))
                    .singleElement()
                    .asString()
                    .contains("put")
                    .doesNotContain("secret77");
        }
    }

    @Test
    void theRightValueIsPrintedOnlyIfItIsWritten() {
        String rule =
                """
                matches: [{path: {value: '/t/${TOKEN}'}, queryParams: [{name: page, value: '${TOKEN}'}]}], \
                filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: X-Shared, value: '${TOKEN}'}, \
                {name: X-Jwt, value: written}, {name: X-Plain, value: plain}]}}, \
                {type: DirectResponse, directResponse: {body: 'password is ${TOKEN}', contentType: 'text/${TOKEN}'}}]""";
        LoadResult result = load(rule, SECRET);
        assertThat(result.problems()).isEmpty();
        String printed = ConfigPrinter.yaml(((LoadResult.Valid) result).config());
        assertThat(printed)
                .doesNotContain(SECRET)
                .doesNotContain("written")
                .contains("value: \"/<masked>\"", "value: plain", "body: \"<masked>\"", "contentType: \"<masked>\"");
        assertThat(ConfigLoader.parse("printed", printed.getBytes(StandardCharsets.UTF_8), directory, Map.of())
                        .problems())
                .isEmpty();
    }

    @Test
    void hostsPortsAndFilesArePrintedWhereverTheyComeFrom() {
        byte[] yaml =
                """
                listeners: [{name: web, port: '${PORT}', protocol: HTTP}]
                routes: [{hostnames: ['${HOST}'], rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                accessLog: {path: '${LOG}'}
                """
                        .getBytes(StandardCharsets.UTF_8);
        LoadResult result = ConfigLoader.parse(
                "test.yaml", yaml, directory, Map.of("PORT", "8088", "HOST", "shop.example", "LOG", "shop.log"));
        assertThat(ConfigPrinter.yaml(((LoadResult.Valid) result).config()))
                .contains("port: 8088", "shop.example", "shop.log");
    }
}
