package dev.gateway.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Autobahn's fuzzing WebSocket client against its own echo server: through the gateway, over ws and wss, each case must
 * get the verdict that it gets without it. {@code -Dautobahn.cases=*} runs all 517 cases; what runs otherwise leaves out
 * long messages and compression, which take half an hour.
 */
class AutobahnIT {
    private static final String DEFAULT_CASES = "1.*,2.*,3.*,4.*,5.*,6.*,7.*,10.*";
    private static final int MAX_SECONDS = 3600;

    /** One case of one agent, as the suite's index.json has it: {@code "1.1.1": { "behavior": "OK", …}}. */
    private static final Pattern CASE = Pattern.compile("\"(\\d+(?:\\.\\d+)+)\": \\{([^}]*)}");

    private static final Pattern VERDICT = Pattern.compile("\"(behavior|behaviorClose)\": \"([A-Z -]+)\"");

    @TempDir
    Path directory;

    @Test
    void eachCaseGetsTheSameVerdictAsWithoutTheGateway() throws Exception {
        Path suite = Tools.installed("AUTOBAHN", "autobahn", "bin/wstest", "gateway-tests/autobahn/install");
        try (Echo echo = Echo.start(suite);
                Rig rig = Rig.to(echo.port).start()) {
            Path spec = directory.resolve("spec.json");
            Path reports = directory.resolve("reports");
            Files.writeString(
                    spec,
                    """
                    {"outdir": "%s", "servers": [%s, %s, %s], "cases": [%s], "exclude-cases": [],
                     "exclude-agent-cases": {}}
                    """
                            .formatted(
                                    reports,
                                    server("direct", "ws", echo.port),
                                    server("ws", "ws", rig.port()),
                                    server("wss", "wss", rig.tlsPort()),
                                    Arrays.stream(System.getProperty("autobahn.cases", DEFAULT_CASES)
                                                    .split(","))
                                            .map(each -> '"' + each + '"')
                                            .collect(Collectors.joining(","))));
            Tools.Result result = Tools.run(
                    MAX_SECONDS,
                    List.of(suite.resolve("bin/wstest").toString(), "-m", "fuzzingclient", "-s", spec.toString()));
            Path index = reports.resolve("index.json");
            assertThat(index).as(result.output()).exists();
            Map<String, Map<String, String>> verdicts = verdicts(Files.readString(index));
            Map<String, String> direct = verdicts.getOrDefault("direct", Map.of());
            System.out.println("Autobahn: " + direct.size() + " cases, direct " + count(direct) + ", ws "
                    + count(verdicts.get("ws")) + ", wss " + count(verdicts.get("wss")));
            assertThat(direct).hasSizeGreaterThan(200).containsEntry("1.1.1", "OK OK");
            assertThat(verdicts.get("ws")).isEqualTo(direct);
            assertThat(verdicts.get("wss")).isEqualTo(direct);
        }
    }

    private static String server(String agent, String scheme, int port) {
        return "{\"agent\": \"%s\", \"url\": \"%s://127.0.0.1:%d/\", \"options\": {\"version\": 18}}"
                .formatted(agent, scheme, port);
    }

    /** Reads the verdicts of each agent, by case. */
    private static Map<String, Map<String, String>> verdicts(String index) {
        Map<String, Map<String, String>> verdicts = new TreeMap<>();
        for (String agent : List.of("direct", "ws", "wss")) {
            int from = index.indexOf("\"" + agent + "\": {");
            if (from < 0) {
                continue;
            }
            Map<String, String> cases = new TreeMap<>();
            Matcher each = CASE.matcher(index);
            int end = endOfObject(index, index.indexOf('{', from));
            each.region(from, end);
            while (each.find()) {
                cases.put(
                        each.group(1),
                        VERDICT.matcher(each.group(2))
                                .results()
                                .sorted((a, b) -> a.group(1).compareTo(b.group(1)))
                                .map(verdict -> verdict.group(2))
                                .collect(Collectors.joining(" ")));
            }
            verdicts.put(agent, cases);
        }
        return verdicts;
    }

    /** Returns where the object ends whose brace is at the index; no text in the file has braces. */
    private static int endOfObject(String json, int brace) {
        int depth = 0;
        for (int i = brace; i < json.length(); i++) {
            depth += json.charAt(i) == '{' ? 1 : json.charAt(i) == '}' ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        return json.length();
    }

    private static Map<String, Long> count(Map<String, String> verdicts) {
        return verdicts.values().stream()
                .collect(Collectors.groupingBy(verdict -> verdict, TreeMap::new, Collectors.counting()));
    }

    /** The suite's echo server. */
    private static final class Echo implements AutoCloseable {
        private final Process process;
        private final int port;

        private Echo(Process process, int port) {
            this.process = process;
            this.port = port;
        }

        static Echo start(Path suite) throws IOException {
            Process process = new ProcessBuilder(
                            suite.resolve("bin/python").toString(),
                            Path.of("autobahn/echo_server.py").toAbsolutePath().toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            BufferedReader output =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String port = output.readLine();
            if (port == null) {
                throw new IOException("the echo server did not start");
            }
            return new Echo(process, Integer.parseInt(port));
        }

        @Override
        public void close() {
            Tools.stop(process);
        }
    }
}
