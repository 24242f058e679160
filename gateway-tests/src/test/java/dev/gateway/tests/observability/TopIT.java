package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code gateway top} in a terminal that a user makes larger and smaller. */
@Timeout(120)
class TopIT {
    /** Runs a program in a terminal of its own, whose lines and columns come from standard input. */
    private static final String TERMINAL =
            """
            import fcntl, os, pty, select, struct, sys, termios
            pid, terminal = pty.fork()
            if pid == 0:
                os.execvp(sys.argv[1], sys.argv[1:])
            while True:
                for ready in select.select([0, terminal], [], [])[0]:
                    data = os.read(ready, 65536)
                    if ready == terminal:
                        os.write(1, data)
                    else:
                        rows, columns = data.split(b'\\n')[0].split()
                        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', int(rows), int(columns), 0, 0))
            """;

    private static final String HOME = "\u001b[H";
    private static final String END = "\u001b[J";

    private Process process;

    private static String upstreams() {
        return IntStream.range(0, 40)
                .mapToObj(i -> "{name: up" + i + ", endpoints: [{host: 127.0.0.1, port: 9}]}")
                .collect(Collectors.joining(", ", "[", "]"));
    }

    private void resize(int rows, int columns) throws IOException {
        process.getOutputStream().write((rows + " " + columns + "\n").getBytes(StandardCharsets.US_ASCII));
        process.getOutputStream().flush();
    }

    /** Returns the lines of the next picture that is as it should be; there is one each tenth of a second. */
    private static List<String> picture(BufferedReader output, Predicate<List<String>> asItShouldBe)
            throws IOException {
        StringBuilder text = new StringBuilder();
        List<String> last = List.of();
        for (int i = 0; i < 100; i++) {
            while (text.indexOf(END) < 0) {
                int next = output.read();
                if (next < 0) {
                    throw new IOException("it has ended: " + text);
                }
                text.append((char) next);
            }
            String frame = text.substring(text.indexOf(HOME) + HOME.length(), text.indexOf(END));
            text.setLength(0);
            last = frame.replace("\r", "").replace("\u001b[K", "").lines().toList();
            if (asItShouldBe.test(last)) {
                return last;
            }
        }
        throw new AssertionError("the last of 100 pictures: " + String.join("\n", last));
    }

    private static List<String> top(Rig rig) {
        return List.of(
                System.getProperty("java.home") + "/bin/java",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.gateway.cli.Main",
                "top",
                "--interval",
                "0.1",
                "--admin",
                "127.0.0.1:" + rig.port("admin"));
    }

    /** As with {@code gateway top | head -1}. */
    @Test
    void itEndsWhenNobodyReadsItsOutput() throws Exception {
        try (Rig rig = Rig.to(1).start()) {
            process = new ProcessBuilder(top(rig)).redirectErrorStream(true).start();
            try {
                assertThat(process.getInputStream().read()).isPositive();
                process.getInputStream().close();
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(process.exitValue()).isZero();
            } finally {
                process.destroyForcibly();
            }
        }
    }

    @Test
    void itFitsTheTerminalWhateverItsSize() throws Exception {
        try (Rig rig = Rig.start(
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{backendRefs: [{name: up0}]}]}]
                upstreams: %s
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: off}
                """
                        .formatted(upstreams()))) {
            List<String> command = new ArrayList<>(List.of("env", "LINES=30", "COLUMNS=60"));
            command.addAll(List.of(Tools.find("python3"), "-c", TERMINAL));
            command.addAll(top(rig));
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
                // Nobody has set a size yet: the environment counts.
                List<String> usual = picture(output, lines -> lines.size() == 30);
                assertThat(usual).allMatch(line -> line.length() <= 60).anyMatch(line -> line.endsWith("…"));
                resize(50, 200);
                List<String> large = picture(output, lines -> lines.size() > 30);
                assertThat(large).hasSizeLessThanOrEqualTo(50).noneMatch(line -> line.endsWith("…"));
                assertThat(large).anyMatch(line -> line.startsWith("up30 "));
                resize(12, 40);
                List<String> small = picture(output, lines -> lines.size() <= 12);
                assertThat(small).allMatch(line -> line.length() <= 40).anyMatch(line -> line.endsWith("…"));
            } finally {
                process.destroy();
            }
        }
    }
}
