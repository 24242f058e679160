package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import dev.gateway.config.filter.FilterDeclaration;
import dev.gateway.config.filter.PluginFilterConfig;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.plugin.FilterPlace;
import dev.gateway.plugin.SettingErrors;
import dev.gateway.plugin.SettingKey;
import dev.gateway.plugin.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Filters of plugins in the configuration file: read, checked, printed and described by the keys that a plugin declares. */
class PluginFiltersTest {
    private static final SettingKey<String> TEXT = SettingKey.text("text", "What it says.");
    private static final SettingKey<Integer> TIMES =
            SettingKey.integer("times", "How often.", 1, 10).withDefault(2);
    private static final SettingKey<Integer> MOST =
            SettingKey.integer("most", "At most.", 1, 10).optional();
    private static final SettingKey<Duration> PAUSE =
            SettingKey.duration("pause", "Between two.").withDefault(Duration.ofSeconds(3));
    private static final SettingKey<Long> ROOM =
            SettingKey.size("room", "Bytes.").withDefault(2048L);
    private static final SettingKey<Boolean> LOUD =
            SettingKey.flag("loud", "Whether loud.").withDefault(false);
    private static final SettingKey<String> TONE =
            SettingKey.word("tone", "How.", "warm", "cool").withDefault("cool");
    private static final SettingKey<List<String>> NAMES =
            SettingKey.text("names", "Whom.").list().withDefault(List.of());
    private static final SettingKey<Path> FILE =
            SettingKey.file("file", "Where.").optional();

    @TempDir
    private Path directory;

    private record Greeting(String type, FilterPlace place, boolean guards, int answer) implements FilterDeclaration {
        static Greeting of(String type) {
            return new Greeting(type, FilterPlace.REQUEST, false, 0);
        }

        @Override
        public String description() {
            return "Greets.";
        }

        @Override
        public boolean decidesByPath() {
            return guards;
        }

        @Override
        public List<SettingKey<?>> keys() {
            return List.of(TEXT, TIMES, MOST, PAUSE, ROOM, LOUD, TONE, NAMES, FILE);
        }

        @Override
        public void check(Settings settings, SettingErrors errors) {
            Integer most = settings.find(MOST);
            if (most != null && most < settings.get(TIMES)) {
                errors.error(MOST, "expected no less than times");
            }
        }
    }

    private LoadResult load(String filter, FilterDeclaration... plugins) throws IOException {
        Path file = Files.writeString(
                directory.resolve("g.yaml"),
                """
                listeners: [{name: web, port: 0, protocol: HTTP}]
                routes:
                  - rules:
                      - backendRefs: [{name: app}]
                        filters:
                %s
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 1}]}]
                """
                        .formatted(filter.indent(10)));
        return ConfigLoader.load(file, Map.of("SECRET", "hidden"), List.of(plugins));
    }

    private GatewayConfig valid(String filter, FilterDeclaration... plugins) throws IOException {
        LoadResult result = load(filter, plugins);
        assertThat(result.problems()).isEmpty();
        return ((LoadResult.Valid) result).config();
    }

    private List<String> errors(String filter, FilterDeclaration... plugins) throws IOException {
        return load(filter, plugins).problems().stream()
                .map(Problem::toString)
                .map(each -> each.substring(each.indexOf("g.yaml:")))
                .toList();
    }

    private static Settings settings(GatewayConfig config) {
        return ((PluginFilterConfig)
                        config.routes().get(0).rules().get(0).filters().get(0))
                .settings();
    }

    @Test
    void onlyAFilterAtTheRightPlaceMayTellWhoTheClientIs() throws IOException {
        String filters =
                """
                - {type: Greeting, greeting: {text: hi}}
                - type: RateLimit
                  rateLimit:
                    limits:
                      - {name: a, requests: 1, interval: 1s, key: [{identity: true}, {claim: tenant}]}
                """;
        assertThat(errors(filters, new Greeting("Greeting", FilterPlace.AUTHENTICATION, true, 0)))
                .isEmpty();
        assertThat(errors(filters, new Greeting("Greeting", FilterPlace.ACCESS, true, 0)))
                .hasSize(2)
                .anyMatch(each -> each.contains("no filter of the rule tells who the client is"))
                .anyMatch(each -> each.contains("no request has claims without a token"));
    }

    @Test
    void aFilterThatMayDecideByThePathIsKnown() throws IOException {
        for (boolean decides : List.of(true, false)) {
            GatewayConfig config = valid(
                    "- {type: Greeting, greeting: {text: hi}}",
                    new Greeting("Greeting", FilterPlace.REQUEST, decides, 0));
            assertThat(config.routes().get(0).rules().get(0).filters().get(0).decidesByPath())
                    .isEqualTo(decides);
        }
    }

    @Test
    void valuesAndDefaultsAreRead() throws IOException {
        Settings settings = settings(valid(
                "- {type: Greeting, greeting: {text: hi, pause: 1m, room: 1MiB, loud: true, tone: warm, names: [a, b],"
                        + " file: x}}",
                Greeting.of("Greeting")));
        assertThat(settings.get(TEXT)).isEqualTo("hi");
        assertThat(settings.get(TIMES)).isEqualTo(2);
        assertThat(settings.find(MOST)).isNull();
        assertThat(settings.get(PAUSE)).isEqualTo(Duration.ofMinutes(1));
        assertThat(settings.get(ROOM)).isEqualTo(1 << 20);
        assertThat(settings.get(LOUD)).isTrue();
        assertThat(settings.get(TONE)).isEqualTo("warm");
        assertThat(settings.get(NAMES)).containsExactly("a", "b");
        assertThat(settings.get(FILE)).isEqualTo(directory.resolve("x").toAbsolutePath());
        assertThat(settings.place()).endsWith("g.yaml:6:40");
        assertThatThrownBy(() -> settings.get(MOST)).hasMessage("no value of the key 'most'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{type: Greeting, greeting: {txt: hi}}|g.yaml:6:41: unknown key 'txt' in a greeting filter: did you mean"
                        + " 'text'?",
                "{type: Greeting, greeting: {times: 3}}|g.yaml:6:40: a greeting filter needs 'text'",
                "{type: Greeting, greeting: {text: a, times: 11}}|g.yaml:6:57: times: expected a whole number from 1 to 10,"
                        + " not '11'",
                "{type: Greeting, greeting: {text: a, tone: warn}}|g.yaml:6:56: tone: unknown value 'warn': did you mean"
                        + " 'warm'?",
                "{type: Greeting, greeting: {text: a, times: 3, most: 2}}|g.yaml:6:66: most: expected no less than times",
                "{type: Greeting}|g.yaml:6:20: type Greeting needs 'greeting'",
                "{type: Greting, greeting: {text: a}}|g.yaml:6:20: type: unknown value 'Greting': did you mean 'Greeting'?",
                "{type: BodyLimit, bodyLimit: {maxBytes: 1}, greeting: {text: a}}|g.yaml:6:67: 'greeting' does not belong to type BodyLimit: remove it"
            })
    void aMistakeHasLineColumnAndFix(String filter, String error) throws IOException {
        assertThat(errors("- " + filter, Greeting.of("Greeting"))).containsExactly(error);
    }

    @Test
    void settingsThatCouldNotBeReadAreNotChecked() throws IOException {
        assertThat(errors("- {type: Greeting, greeting: {text: a, times: 11, most: x}}", Greeting.of("Greeting")))
                .hasSize(2)
                .noneMatch(each -> each.contains("no less than times"));
    }

    @Test
    void whatIsPrintedLoadsAgainAndHidesWhatComesFromTheEnvironment() throws IOException {
        Greeting greeting = Greeting.of("Greeting");
        String printed = ConfigPrinter.yaml(valid("- {type: Greeting, greeting: {text: \"${SECRET}\"}}", greeting));
        assertThat(printed)
                .contains("type: Greeting", "greeting:", "times: 2", "pause: 3s", "room: 2KiB", "names: []")
                .doesNotContain("hidden", "most:");
        Path file = Files.writeString(directory.resolve("printed.yaml"), printed);
        assertThat(ConfigLoader.load(file, Map.of(), List.of(greeting))).isInstanceOf(LoadResult.Valid.class);
    }

    @Test
    void theJsonSchemaHasTheKeys() {
        assertThat(ConfigSchema.json(List.of(Greeting.of("AddGreeting"))))
                .contains("\"addGreeting\"", "\"AddGreeting\"", "#/$defs/addGreetingFilter", "What it says.");
        assertThat(ConfigSchema.json()).doesNotContain("addGreeting");
    }

    @Test
    void aTypeThatIsNotLoadedIsUnknown() throws IOException {
        assertThat(errors("- {type: Greeting, greeting: {text: a}}"))
                .anyMatch(each -> each.startsWith("g.yaml:6:20: type: unknown value 'Greeting'"));
    }

    @ParameterizedTest
    @CsvSource({
        "ACCESS, CORS, ClientCertificate",
        "AUTHENTICATION, JWT, ExternalAuth",
        "REQUEST, BodyLimit, RequestRedirect",
        "UPSTREAM, ResponseHeaderModifier, ''"
    })
    void aPlaceIsBetweenTypesOfTheGateway(FilterPlace place, String before, String after) {
        List<String> names = FilterTypes.with(List.of(new Greeting("Greeting", place, false, 0)))
                .names();
        int index = names.indexOf("Greeting");
        assertThat(names.get(index - 1)).isEqualTo(before);
        assertThat(index + 1 == names.size() ? "" : names.get(index + 1)).isEqualTo(after);
    }

    @Test
    void aFilterBehindOneThatAnswersIsReportedByItsPlace() throws IOException {
        String filters = "- {type: DirectResponse, directResponse: {}}\n- {type: Greeting, greeting: {text: a}}";
        assertThat(errors(filters, new Greeting("Greeting", FilterPlace.UPSTREAM, false, 0)))
                .anyMatch(each -> each.contains("no request reaches this filter: DirectResponse answers before it"));
        assertThat(errors(filters, Greeting.of("Greeting"))).noneMatch(each -> each.contains("no request reaches"));
    }

    @Test
    void aPluginMayAnswerInsteadOfAnUpstream() throws IOException {
        assertThat(errors(
                        "- {type: Greeting, greeting: {text: a}}",
                        new Greeting("Greeting", FilterPlace.REQUEST, true, 403)))
                .anyMatch(each -> each.contains("Greeting answers every request"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"greeting", "Gre eting", "", "CORS", "Cors", "JWT", "RequestMirror", "Type"})
    void aNameThatCannotBeIsRefused(String name) {
        assertThatThrownBy(() -> FilterTypes.keyOf(name)).hasMessageContaining("needs another name");
    }

    @ParameterizedTest
    @CsvSource({"AddGreeting, addGreeting", "WAF, waf", "IPList, ipList", "G, g", "X509Name, x509Name"})
    void theKeyFollowsFromTheName(String name, String key) {
        assertThat(FilterTypes.keyOf(name)).isEqualTo(key);
    }

    @Test
    void aKeyThatCannotBeIsRefused() {
        assertThatThrownBy(() -> SettingKey.text("Text", "x")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> SettingKey.word("text", "x")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> SettingKey.integer("text", "x", 2, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> SettingKey.integer("text", "x", 1, 2).withDefault(3))
                .hasMessage("key 'text' does not allow its default 3");
        assertThatThrownBy(() -> SettingKey.word("text", "x", "a").withDefault("b"))
                .hasMessage("key 'text' does not allow its default b");
    }
}
