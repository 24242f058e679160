package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.AdminConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
    void aTokenThatEverybodyMayWriteIsWarnedOf() throws IOException {
        Path file = Files.writeString(directory.resolve("token"), "0123456789abcdef\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-r--"));
        assertThat(load("{tokenFile: token}").problems()).isEmpty();
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw----rw-"));
        assertThat(load("{tokenFile: token}").problems())
                .singleElement()
                .asString()
                .contains("warning: tokenFile: every user of this machine may write " + file);
    }

    @Test
    void aDirectoryOfStateThatEverybodyMayWriteIsWarnedOf() throws IOException {
        Path state = Files.createDirectory(directory.resolve("state"));
        Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rwxrwxr-x"));
        assertThat(load("{enabled: false}\nstateDirectory: state").problems()).isEmpty();
        Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(load("{enabled: false}\nstateDirectory: state").problems())
                .singleElement()
                .asString()
                .endsWith("warning: stateDirectory: every user of this machine may write " + state
                        + ": 'chmod o-w' prevents that");
    }

    private List<String> problems(String admin, String endpoint) {
        String yaml =
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [%s]}]
                %s
                """
                        .formatted(endpoint, admin);
        return ConfigLoader.parse("test.yaml", yaml.getBytes(StandardCharsets.UTF_8), directory, Map.of())
                .problems()
                .stream()
                .map(Object::toString)
                .toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{}|{host: 127.0.0.1, port: 9901}",
                "{port: 9901}|{host: 127.0.0.1, port: 9901}",
                "{}|{host: localhost, port: 9901}",
                "{}|{dns: localhost, port: 9901}",
                "{}|{host: 0.0.0.0, port: 9901}",
                "{address: 0.0.0.0, port: 99, tokenFile: token}|{host: '::1', port: 99}",
                "{address: admin.example, port: 99, tokenFile: token}|{host: admin.example, port: 99}",
                "{unix: run/admin.sock}|{unix: run/../run/admin.sock}"
            })
    void theAdminListenerIsNoEndpoint(String admin, String endpoint) throws IOException {
        Files.writeString(directory.resolve("token"), "0123456789abcdef\n");
        assertThat(problems("admin: " + admin, endpoint))
                .singleElement()
                .asString()
                .startsWith("test.yaml:3:")
                .doesNotContain("warning")
                .contains("is the admin listener of this gateway, which cannot be an endpoint");
    }

    /** The file is there if the gateway runs, as at a reload. */
    @Test
    void aLinkToTheAdminListenerIsNoEndpointEither() throws IOException {
        String link = "{unix: link.sock}";
        assertThat(problems("admin: {unix: admin.sock}", link)).isEmpty();
        Path socket = Files.createFile(directory.resolve("admin.sock"));
        Files.createSymbolicLink(directory.resolve("link.sock"), socket);
        assertThat(problems("admin: {unix: admin.sock}", link))
                .singleElement()
                .asString()
                .contains("link.sock is the admin listener of this gateway, which cannot be an endpoint");
        assertThat(problems("admin: {unix: other.sock}", link)).isEmpty();
    }

    @Test
    void theAdminListenerOfNoSectionIsNoEndpointEither() {
        assertThat(problems("", "{host: 127.0.0.1, port: 9901}"))
                .singleElement()
                .asString()
                .contains("port 9901 of 127.0.0.1 is the admin listener", "write 'admin: {enabled: false}'");
    }

    @Test
    void whereTheAdminListenerIsNotAnEndpointMayBe() {
        assertThat(problems("admin: {}", "{host: 127.0.0.1, port: 8080}")).isEmpty(); // another listener of the gateway
        assertThat(problems("admin: {port: 9902}", "{host: 127.0.0.1, port: 9901}"))
                .isEmpty();
        assertThat(problems("admin: {enabled: false}", "{host: 127.0.0.1, port: 9901}"))
                .isEmpty();
        assertThat(problems("admin: {address: 127.0.0.2}", "{host: 127.0.0.1, port: 9901}"))
                .isEmpty();
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

    @Test
    void nothingWrittenIsLeftToWhoeverRunsIt() {
        byte[] yaml = YAML.getBytes(StandardCharsets.UTF_8);
        LoadResult result = ConfigLoader.parse("test.yaml", yaml, directory, Map.of());
        GatewayConfig config = ((LoadResult.Valid) result).config();
        assertThat(config.admin()).isNull();
        AdminConfig added = Objects.requireNonNull(config.withAdmin().admin());
        assertThat(added.bind().address()).isEqualTo("127.0.0.1");
        assertThat(added.bind().port()).isEqualTo(9901);
        assertThat(added.chosen()).isFalse();
    }

    @Test
    void aPortThatIsWrittenHasBeenChosen() {
        assertThat(admin(load("{}")).chosen()).isFalse();
        assertThat(admin(load("{port: 9901}")).chosen()).isTrue();
        assertThat(admin(load("{address: 127.0.0.1}")).chosen()).isTrue();
        assertThat(admin(load("{unix: a.sock}")).chosen()).isTrue();
    }

    @Test
    void aSocketFileHasNoPort() {
        assertThat(load("{unix: a.sock, port: 1, address: 127.0.0.1}").problems())
                .extracting(Object::toString)
                .containsExactly(
                        "test.yaml:3:23: port has no meaning with 'unix': remove it",
                        "test.yaml:3:32: address has no meaning with 'unix': remove it");
        LoadResult result = load("{unix: a.sock}");
        assertThat(admin(result).bind().unix()).isEqualTo(directory.resolve("a.sock"));
        assertThat(ConfigPrinter.yaml(((LoadResult.Valid) result).config()))
                .contains("unix: " + directory.resolve("a.sock"))
                .doesNotContain("9901");
    }

    @Test
    void whatOthersReachIsWarnedOfUnlessThereIsAToken() throws IOException {
        Files.writeString(directory.resolve("token"), "0123456789abcdef\n");
        assertThat(load("{address: 0.0.0.0}").problems()).hasSize(1);
        assertThat(load("{address: 0.0.0.0, tokenFile: token}").problems()).isEmpty();
        assertThat(load("{enabled: false, address: 0.0.0.0}").problems()).isEmpty();
    }
}
