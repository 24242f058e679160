package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.Gateway;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What the commands print that ask a gateway, or a configuration, what goes on. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class AdminCommandsTest {
    private static final String YAML =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes:
              - name: shop
                hostnames: [shop.test]
                rules: [{backendRefs: [{name: app}]}]
            upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9}]}]
            admin: {address: 127.0.0.1, port: 0}
            accessLog: {format: off}
            workers: 1
            """;

    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int gateway(String... args) {
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        return commandLine.execute(args);
    }

    private Path file() throws IOException {
        return Files.writeString(directory.resolve("gateway.yaml"), YAML);
    }

    private static GatewayConfig config() {
        return ((LoadResult.Valid) ConfigLoader.parse(YAML)).config();
    }

    @Test
    void aRequestIsExplainedByTheFileAlone() throws Exception {
        String file = file().toString();
        assertThat(gateway("explain", "--config", file, "--host", "shop.test", "--path", "/a?b=c"))
                .isZero();
        assertThat(out.toString())
                .startsWith("GET shop.test/a?b=c\n")
                .contains("listener web (" + file + ":1:13)", "=> route shop", "host shop.test is shop.test")
                .contains(file + ":4:17", "app, 100 %", "endpoint 127.0.0.1:9");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void whereNothingAnswersEachCommandSaysWhatToCheck() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort(); // closed when it is asked
        }
        String address = "127.0.0.1:" + port;
        for (String[] command : new String[][] {
            {"stats", "--admin", address},
            {"top", "--once", "--admin", address},
            {"explain", "--admin", address, "--host", "a.test"},
            {"reload", "--admin", address},
            {"drain", "--admin", address, "app", "127.0.0.1:9", "--wait"},
            {"undrain", "--admin", address, "app", "127.0.0.1:9"},
            {"healthcheck", "--url", "http://" + address + "/ready"}
        }) {
            assertThat(gateway(command)).as(command[0]).isNotZero();
            assertThat(err.toString())
                    .as(command[0])
                    .contains("nothing answers at " + address + ": is the gateway running", "admin")
                    .doesNotContain("Exception");
            err.getBuffer().setLength(0);
        }
    }

    @Test
    void programsGetTheSameAsJson() throws Exception {
        assertThat(gateway("explain", "-c", file().toString(), "--host", "other.test", "--json"))
                .isZero();
        assertThat(JsonView.parse(out.toString()).list("listeners").get(0).text("verdict"))
                .isEqualTo("refused");
        assertThat(JsonView.parse(out.toString())
                        .list("listeners")
                        .get(0)
                        .list("nearMisses")
                        .get(0)
                        .text("name"))
                .isEqualTo("shop");
    }

    @Test
    void aRunningGatewayExplainsItself() throws Exception {
        try (Gateway gateway = Gateway.start(config())) {
            String address = "127.0.0.1:" + gateway.port("admin");
            assertThat(gateway("explain", "--admin", address, "--host", "shop.test", "--header", "a: b & c"))
                    .isZero();
            assertThat(out.toString()).contains("=> route shop", "state healthy");
            assertThat(gateway("explain", "--admin", address, "--connect", "a.test:443"))
                    .isZero();
            assertThat(out.toString()).contains("405: no tunnels are offered here");
            assertThat(gateway("explain", "--admin", address, "--path", "nowhere"))
                    .isEqualTo(1);
            assertThat(err.toString()).contains("path: expected a path");
        }
    }

    @Test
    void statisticsArePrinted() throws Exception {
        try (Gateway gateway = Gateway.start(config())) {
            String address = "http://127.0.0.1:" + gateway.port("admin") + "/";
            assertThat(gateway("stats", "--admin", address)).isZero();
            assertThat(out.toString()).contains("requests total");
            assertThat(gateway("stats", "--json", "--admin", address)).isZero();
            assertThat(out.toString()).contains("\"requestsTotal\":0");
        }
    }

    /** Requests name the endpoint as the gateway shows it, also if its name has a slash or a colon. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:9", "[::1]:9", "unix:/run/app.sock"})
    void anEndpointIsDrainedAndPutBack(String endpoint) throws Exception {
        GatewayConfig config = ((LoadResult.Valid) ConfigLoader.parse(YAML.replace(
                        "endpoints: [{host: 127.0.0.1, port: 9}]",
                        "endpoints: [{host: 127.0.0.1, port: 9}, {host: '::1', port: 9}, {unix: /run/app.sock}]")))
                .config();
        try (Gateway gateway = Gateway.start(config)) {
            String address = "127.0.0.1:" + gateway.port("admin");
            assertThat(gateway("drain", "--admin", address, "app", endpoint, "--wait"))
                    .as(err.toString())
                    .isZero();
            assertThat(out.toString().lines())
                    .containsExactly(
                            "endpoint " + endpoint + " of upstream app gets no new requests",
                            "nothing runs at " + endpoint + " any more");
            assertThat(gateway("undrain", "--admin", address, "app", endpoint)).isZero();
            assertThat(out.toString()).endsWith("endpoint " + endpoint + " of upstream app gets requests again\n");
        }
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void anEndpointThatThereIsNotIsSaidWithThoseThatThereAre() throws Exception {
        try (Gateway gateway = Gateway.start(config())) {
            String address = "127.0.0.1:" + gateway.port("admin");
            assertThat(gateway("drain", "--admin", address, "app", "127.0.0.1:10", "--wait"))
                    .isEqualTo(1);
            assertThat(gateway("undrain", "--admin", address, "ap", "127.0.0.1:9"))
                    .isEqualTo(1);
        }
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString().lines())
                .containsExactly(
                        "upstream app has no endpoint 127.0.0.1:10: expected one of 127.0.0.1:9",
                        "no upstream ap: did you mean app?");
    }

    /** What the configuration warns of is for those who validate or run it. */
    @Test
    void aConfigurationThatOnlyTellsTheAddressIsReadWithoutItsWarnings() throws Exception {
        try (Gateway gateway = Gateway.start(config())) {
            String warned = YAML.replace("admin: {address: 127.0.0.1, port: 0}", "admin: {port: PORT}")
                    .replace("upstreams: [", "upstreams: [{name: idle, endpoints: [{host: 127.0.0.1, port: 9}]}, ")
                    .replace("PORT", Integer.toString(gateway.port("admin")));
            assertThat(ConfigLoader.parse(warned).problems()).isNotEmpty();
            String file =
                    Files.writeString(directory.resolve("warned.yaml"), warned).toString();
            assertThat(gateway("stats", "--config", file)).as(err.toString()).isZero();
            assertThat(gateway("drain", "--config", file, "app", "127.0.0.1:9")).isZero();
            assertThat(gateway("undrain", "--config", file, "app", "127.0.0.1:9"))
                    .isZero();
            assertThat(gateway("explain", "--config", file, "--live", "--host", "shop.test"))
                    .isZero();
            assertThat(err.toString()).isEmpty();

            Files.writeString(directory.resolve("warned.yaml"), warned + "x: 1\n");
            assertThat(gateway("stats", "--config", file)).isEqualTo(1);
            assertThat(err.toString()).contains("unknown key 'x'");
        }
    }

    @Test
    void topShowsOncePlainly() throws Exception {
        try (Gateway gateway = Gateway.start(config())) {
            String address = "127.0.0.1:" + gateway.port("admin");
            assertThat(gateway("top", "--once", "--interval", "0.1", "--admin", address))
                    .isZero();
            assertThat(out.toString())
                    .contains("at " + address, "requests  ", "UPSTREAM")
                    .doesNotContain("\u001b");
            assertThat(out.toString().lines()).hasSizeLessThanOrEqualTo(24).allMatch(line -> line.length() <= 80);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"stats", "top", "explain"})
    void aGatewayThatIsNotThereIsSaidInOneLine(String command) throws Exception {
        int port;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = taken.getLocalPort();
        }
        assertThat(gateway(command, "--admin", "127.0.0.1:" + port)).isEqualTo(1);
        assertThat(err.toString())
                .startsWith("nothing answers at 127.0.0.1:" + port)
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"nowhere", "ftp://here:1", "127.0.0.1:1:2", "a b:1"})
    void anAddressThatIsNoneIsAnErrorOfTheCommandLine(String address) {
        assertThat(gateway("stats", "--admin", address)).isEqualTo(2);
        assertThat(err.toString()).contains("expected an address such as");
    }

    @Test
    void aFileThatWantsNoAdminListenerNamesNone() throws Exception {
        Path file = Files.writeString(
                directory.resolve("none.yaml"), YAML.replaceAll("(?m)^admin.*\n", "admin: {enabled: false}\n"));
        assertThat(gateway("top", "--config", file.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("no admin listener");
    }

    // ---- the picture

    /** A reading of a gateway that serves, some seconds after its start. */
    private static JsonView reading(int second) {
        StringBuilder upstreams = new StringBuilder();
        for (int i = 0; i < 30; i++) {
            upstreams
                    .append(i == 0 ? "" : ",")
                    .append("{\"name\": \"upstream-with-a-long-name-")
                    .append(i)
                    .append("\", \"attempts\": {\"total\": ")
                    .append(second * 5)
                    .append(
                            "}, \"connections\": {\"active\": 4, \"idle\": 2}, \"endpoints\": [{\"state\": \"healthy\"},"
                                    + " {\"state\": \"draining\"}]}");
        }
        return JsonView.parse(
                """
                {"time": %d, "uptimeSeconds": %d.5, "build": {"version": "1.2"}, "config": {"generation": 3},
                 "totals": {"requestsTotal": %d, "requestsActive": 7, "bytesSent": %d},
                 "recentSeconds": 10, "causes": {"upstream_timeout": %d, "client_closed": 100},
                 "recent": {"requests": 9, "p50": 0.00025, "p99": 1.5}, "listeners": [{"name": "web"}],
                 "upstreams": [%s],
                 "memory": {"heapUsedBytes": 52428800}, "eventLoops": [{"lagSeconds": 0.0001}, {"lagSeconds": 0.02}]}
                """
                        .formatted(second * 1000, second, second * 200, second * 2048L, second, upstreams));
    }

    @Test
    void theDifferenceOfTwoReadingsIsARate() {
        List<String> lines = TopFrame.of("here", reading(12), reading(10), 24, 80);
        assertThat(lines.get(0)).isEqualTo("gateway 1.2 at here   up 12s   generation 3");
        assertThat(lines.get(1)).contains(" 200/s ", "active 7 ", "total 2400");
        assertThat(lines.get(2)).contains("p50 250 µs", "p99 1.5 s", "in 10 s");
        assertThat(lines.get(3)).contains("out 2.0 KiB/s");
        assertThat(lines.get(5)).contains("heap 50.0 MiB", "lag 20.0 ms");
        assertThat(lines.get(6)).isEqualTo("causes      client_closed 100   upstream_timeout 12 (+2)");
        assertThat(lines.get(9))
                .startsWith("upstream-with-a-l\u2026      5.0     0.0")
                .endsWith("1 of 2");
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 24, 60})
    void aPictureFitsTheTerminal(int rows) {
        List<String> lines = TopFrame.of("a-rather-long-name-of-a-host.example.com:9901", reading(2), null, rows, 80);
        assertThat(lines).hasSizeLessThanOrEqualTo(rows).allMatch(line -> line.length() <= 80);
        if (rows == 24) {
            assertThat(lines.get(23)).startsWith("web "); // the last listener still has its place
            assertThat(lines).anyMatch(line -> line.matches("and [0-9]+ more"));
        }
    }

    private static JsonView troubled(int second) {
        return JsonView.parse(
                """
                {"time": %1$d000, "config": {"generation": 3},
                 "causes": {"upstream_reset_before_headers": 1000, "upstream_protocol_error": 500, "connect_failed": %1$d,
                            "pending_overflow": 30, "client_closed": 7},
                 "attention": [{"level": "bad", "text": "Route shop: 50 %% of requests fail, most with connect_failed."},
                               {"level": "warn", "text": "The access log drops lines."}],
                 "upstreams": [
                   {"name": "a-fine-one", "attempts": {"total": %1$d00, "failed": 0}, "recent": {"p99": 0.2}, "endpoints": [
                     {"address": "10.0.0.1:80", "state": "healthy", "requests": 7, "failures": 0}]},
                   {"name": "z-bad-one", "attempts": {"total": %1$d0, "failed": %2$d}, "recent": {"p99": 3.2}, "endpoints": [
                     {"address": "10.0.0.2:80", "state": "healthy", "requests": 7, "failures": 0},
                     {"address": "10.0.0.3:80", "state": "unreachable", "requests": %2$d, "failures": %2$d}]}]}
                """
                        .formatted(second, second * 2));
    }

    @Test
    void whatIsWrongComesFirst() {
        List<String> lines = TopFrame.of("here", troubled(20), troubled(10), 24, 80);
        assertThat(lines.subList(1, 3))
                .containsExactly(
                        "! Route shop: 50 % of requests fail, most with connect_failed.",
                        "! The access log drops lines.");
        int head = lines.indexOf(lines.stream()
                .filter(line -> line.startsWith("UPSTREAM"))
                .findFirst()
                .orElseThrow());
        assertThat(lines.get(head)).contains("FAIL/S", "P99");
        assertThat(lines.get(head + 1))
                .startsWith("z-bad-one              10.0     2.0    3.2 s")
                .endsWith("1 of 2");
        assertThat(lines.get(head + 2))
                .startsWith("  10.0.0.3:80           2.0     2.0 ")
                .endsWith("unreachable");
        assertThat(lines.get(head + 3))
                .startsWith("a-fine-one              100     0.0 200.0 ms")
                .endsWith("1 of 1");
    }

    @ParameterizedTest
    @ValueSource(ints = {80, 120, 140})
    void causesAreWrappedAndNotCut(int columns) {
        List<String> lines = TopFrame.of("here", troubled(20), troubled(10), 40, columns);
        assertThat(lines).allMatch(line -> line.length() <= columns);
        assertThat(String.join("\n", lines))
                .contains(
                        "upstream_reset_before_headers 1000",
                        "upstream_protocol_error 500",
                        "pending_overflow 30",
                        "connect_failed 20 (+10)",
                        "client_closed 7");
    }

    @Test
    void aReadingWithoutAnythingIsAPictureToo() {
        assertThat(TopFrame.of("here", JsonView.parse("{}"), JsonView.parse("{}"), 24, 80))
                .hasSizeGreaterThan(8);
    }
}
