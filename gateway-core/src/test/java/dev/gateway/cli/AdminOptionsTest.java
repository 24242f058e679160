package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@link AdminOptions}, as {@link StatsCommand}, {@link ExplainCommand}, {@link TopCommand} and {@link ReloadCommand} have
 * them: which gateway is asked for what, and what is printed of its answer.
 */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class AdminOptionsTest {
    @TempDir
    Path directory;

    private final CommandRun run = new CommandRun();

    private String config(String admin) throws IOException {
        return Files.writeString(
                        directory.resolve("gateway.yaml"),
                        """
                        listeners: [{name: web, port: 8080, protocol: HTTP}]
                        routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                        admin: %s
                        """
                                .formatted(admin))
                .toString();
    }

    private static String port(FakeAdmin admin) throws IOException {
        return admin.address().replaceAll(".*:", "");
    }

    private static String page(FakeAdmin admin) {
        return admin.requests().get(0).replaceAll(" HTTP/1.1\r\n(?s:.*)", "");
    }

    @ParameterizedTest
    @CsvSource({"stats, format=text", "stats --json, format=json"})
    void statisticsArePrintedAsTheyCome(String command, String query) throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, "the page\n"))) {
            assertThat(run.gateway((command + " --admin " + admin.address()).split(" ")))
                    .isZero();
            assertThat(run.out()).isEqualTo("the page\n");
            assertThat(run.err()).isEmpty();
            assertThat(page(admin)).isEqualTo("GET /stats?" + query);
        }
    }

    @ParameterizedTest
    @CsvSource({"200, 0, generation 2 is active, ''", "422, 1, '', gateway.yaml:1:1: unknown key 'x'"})
    void whatCameOfAReloadIsPrinted(int status, int code, String out, String err) throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(status, out + err))) {
            assertThat(run.gateway("reload", "--admin", admin.address())).isEqualTo(code);
            assertThat(page(admin)).isEqualTo("POST /reload");
        }
        assertThat(run.out()).isEqualTo(out);
        assertThat(run.err()).isEqualTo(err);
    }

    @Test
    void aRefusalIsPrintedAsAnError() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(403, "not from there\n"))) {
            assertThat(run.gateway("stats", "--admin", admin.address())).isEqualTo(1);
            assertThat(run.out()).isEmpty();
            assertThat(run.err()).isEqualTo("not from there\n");
        }
    }

    @Test
    void whoNeedsATokenIsToldHowToNameIt() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(401, "this needs the token\n"))) {
            assertThat(run.gateway("explain", "--admin", admin.address(), "--path", "/"))
                    .isEqualTo(1);
            assertThat(run.err().lines())
                    .containsExactly(
                            "this needs the token",
                            "Name the file that has it by --token-file FILE, or the configuration by --config FILE.");
        }
    }

    /** An address for all of this machine is no address to connect to. */
    @ParameterizedTest
    @CsvSource({"127.0.0.1", "0.0.0.0"})
    void theConfigurationSaysWhereTheGatewayIsAndHasItsToken(String address) throws Exception {
        Files.writeString(directory.resolve("token"), "0123456789abcdef0123456789abcdef\n");
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, "the page\n"))) {
            String file = config("{address: " + address + ", port: " + port(admin) + ", tokenFile: token}");
            assertThat(run.gateway("stats", "--config", file)).as(run.err()).isZero();
            assertThat(admin.requests().get(0)).contains("Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n");
        }
    }

    @Test
    void theConfigurationMayNameASocketFile() throws Exception {
        Path file = directory.resolve("admin.sock");
        try (FakeAdmin admin = FakeAdmin.answering(file, FakeAdmin.http(200, "the page\n"))) {
            assertThat(run.gateway("stats", "--config", config("{unix: admin.sock}")))
                    .as(run.err())
                    .isZero();
            assertThat(admin.requests()).hasSize(1);
        }
    }

    @Test
    void whatIsNamedWinsOverTheConfiguration() throws Exception {
        Files.writeString(directory.resolve("token"), "0123456789abcdef0123456789abcdef\n");
        Path mine = Files.writeString(directory.resolve("mine"), "another\n");
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, "the page\n"))) {
            String file = config("{port: 1, tokenFile: token}");
            assertThat(run.gateway("stats", "-c", file, "--admin", admin.address(), "--token-file", mine.toString()))
                    .as(run.err())
                    .isZero();
            assertThat(admin.requests().get(0)).contains("Authorization: Bearer another\r\n");
        }
    }

    @Test
    void aConfigurationThatIsNotValidNamesNoGateway() throws Exception {
        String file = config("{prt: 1}");
        assertThat(run.gateway("stats", "--config", file)).isEqualTo(1);
        assertThat(run.err()).startsWith(file + ":3:9: unknown key 'prt'");
    }

    @Test
    void aQuestionAboutARequestIsPassedOnWhole() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, "=> route shop\n"))) {
            assertThat(run.gateway(
                            "explain",
                            "--admin",
                            admin.address(),
                            "--method",
                            "POST",
                            "--host",
                            "shop.test:8443",
                            "--path",
                            "/a?b=c&d",
                            "--header",
                            "X-Tier: gold",
                            "--header",
                            "X-Other: 1",
                            "--listener",
                            "web",
                            "--json"))
                    .isZero();
            assertThat(page(admin))
                    .isEqualTo("GET /explain?format=json&method=POST&path=%2Fa%3Fb%3Dc%26d&host=shop.test%3A8443"
                            + "&header=X-Tier%3A+gold&header=X-Other%3A+1&listener=web");
        }
    }

    @Test
    void theRunningGatewayOfAConfigurationIsAskedOnlyIfThatIsSaid() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, "=> route shop\n"))) {
            String file = config("{port: " + admin.address().replaceAll(".*:", "") + "}");
            assertThat(run.gateway("explain", "--config", file, "--client", "192.0.2.7"))
                    .isEqualTo(2);
            assertThat(run.err()).isEqualTo("--client is for the endpoints of a running gateway: add --live\n");
            assertThat(run.gateway("explain", "--config", file, "--live", "--client", "192.0.2.7"))
                    .isZero();
            assertThat(page(admin)).isEqualTo("GET /explain?format=text&method=GET&path=%2F&client=192.0.2.7");
        }
    }

    @Test
    void aQuestionAboutATunnelHasNoPath() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, "=> allowed\n"))) {
            assertThat(run.gateway(
                            "explain",
                            "--admin",
                            admin.address(),
                            "--connect",
                            "a.test:443",
                            "--identity",
                            "alice",
                            "--group",
                            "staff",
                            "--group",
                            "ops"))
                    .isZero();
            assertThat(page(admin))
                    .isEqualTo("GET /explain?format=text&connect=a.test%3A443&identity=alice&group=staff&group=ops");
        }
    }

    @ParameterizedTest
    @CsvSource({"0", "-1", "0.05", "3601", "NaN"})
    void anIntervalOfNoUseIsRefusedBeforeAnythingIsAsked(String seconds) throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, "{}"))) {
            assertThat(run.gateway("top", "--once", "--interval=" + seconds, "--admin", admin.address()))
                    .isEqualTo(2);
            assertThat(run.err()).isEqualTo("--interval: expected 0.1 to 3600 seconds" + System.lineSeparator());
            assertThat(admin.requests()).isEmpty();
        }
    }

    @Test
    void topSaysWhoRefusedIt() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(403, "not from there\n"))) {
            assertThat(run.gateway("top", "--once", "--admin", admin.address())).isEqualTo(1);
            assertThat(run.err()).isEqualTo(admin.address() + ": 403 not from there" + System.lineSeparator());
        }
    }

    @Test
    void topSaysIfWhatAnswersIsNoGateway() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, "<html>&nbsp;: {"))) {
            assertThat(run.gateway("top", "--once", "--admin", admin.address())).isEqualTo(2);
            assertThat(run.err()).isEqualTo("the answer is not JSON" + System.lineSeparator());
        }
    }
}
