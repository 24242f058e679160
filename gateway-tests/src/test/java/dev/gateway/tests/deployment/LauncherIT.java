package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code bin/gateway} on the JVM that runs the tests, as an operator starts it. */
@Timeout(120)
@Tag("jar")
@Tag("platform")
class LauncherIT {
    private static final Path LAUNCHER = Path.of(System.getProperty("gateway.launcher", "../bin/gateway"));
    private static final Pattern ADMIN = Pattern.compile("Admin at (http://\\S+)/");

    @TempDir
    private Path directory;

    @BeforeAll
    static void built() {
        if (!Files.exists(Path.of("../gateway-core/target/gateway.jar"))) {
            Tools.missing("gateway.jar is not built: mvn package makes it");
        }
    }

    private ProcessBuilder gateway(String... args) {
        List<String> command = new ArrayList<>(List.of(LAUNCHER.toString()));
        command.addAll(List.of(args));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("GATEWAY_CACHE", directory.resolve("cache").toString());
        return builder;
    }

    private static String output(Process process) throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void theJvmAcceptsItsFlagsAndSaysNothingAboutThem() throws Exception {
        Process process = gateway("version").start();
        assertThat(output(process)).startsWith("gateway ").doesNotContainIgnoringCase("warning");
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void theOperatorsOptionsWin() throws Exception {
        ProcessBuilder builder = gateway("version");
        builder.environment().put("GATEWAY_DEBUG", "1");
        builder.environment().put("GATEWAY_OPTS", "-XX:MaxRAMPercentage=50 -XX:+PrintFlagsFinal");
        assertThat(output(builder.start())).containsPattern("MaxRAMPercentage += 50.0");
    }

    /** Else what lives for long would have no room, and the gateway would refuse clients. */
    @Test
    void theYoungGenerationIsAtMostAThirdOfTheHeap() throws Exception {
        Path tools = Files.createDirectory(directory.resolve("tools"));
        Path nproc = Files.writeString(tools.resolve("nproc"), "#!/bin/sh\necho 1\n");
        Files.setPosixFilePermissions(nproc, PosixFilePermissions.fromString("rwx------"));
        for (int heap : new int[] {24, 32, 47, 48, 64}) {
            ProcessBuilder builder = gateway("version");
            builder.environment().merge("PATH", tools.toString(), (path, first) -> first + ":" + path);
            builder.environment().put("GATEWAY_OPTS", "-Xmx" + heap + "m -XX:+PrintFlagsFinal");
            Matcher size = Pattern.compile("\\bNewSize += (\\d+)").matcher(output(builder.start()));
            assertThat(size.find()).isTrue();
            assertThat(Long.parseLong(size.group(1)) * 3)
                    .as("of a heap of %d MiB", heap)
                    .isLessThanOrEqualTo((long) heap << 20);
        }
    }

    @Test
    void theSecondStartFindsItsClassesInAnArchive() throws Exception {
        assertThat(gateway("version").start().waitFor()).isZero();
        try (Stream<Path> files = Files.list(directory.resolve("cache"))) {
            assertThat(files).hasSize(1).allMatch(file -> file.toString().endsWith(".jsa"));
        }
        ProcessBuilder second = gateway("version");
        second.environment().put("JAVA_OPTS", "-Xlog:class+load");
        assertThat(output(second.start())).containsPattern("dev\\.gateway\\.cli\\.Main source: shared objects file");
    }

    @Test
    void theDirectoryOfTheArchiveIsTheUsersOwn() throws Exception {
        assertThat(gateway("version").start().waitFor()).isZero();
        assertThat(Files.getPosixFilePermissions(directory.resolve("cache")))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void anArchiveInADirectoryThatOthersMayWriteIsNotUsed() throws Exception {
        Path cache = directory.resolve("cache");
        assertThat(gateway("version").start().waitFor()).isZero();
        Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(command()).contains("starts without its class archive: others may write to " + cache);
    }

    @Test
    void aStickyDirectoryIsNoPlaceForAnArchiveEither() throws Exception {
        Path cache = Files.createDirectory(directory.resolve("cache"));
        assertThat(Tools.run("chmod", "1777", cache.toString()).exit()).isZero();
        assertThat(command()).contains("starts without its class archive: others may write to " + cache);
    }

    @Test
    void noDirectoryOnTheWayMayBeWritableForOthers() throws Exception {
        assertThat(gateway("version").start().waitFor()).isZero();
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwx---"));
        assertThat(command()).contains("starts without its class archive: others may write to " + directory + "/");
    }

    @Test
    void anArchiveThatOthersMayHaveWrittenIsNotUsed() throws Exception {
        Path cache = directory.resolve("cache");
        assertThat(gateway("version").start().waitFor()).isZero();
        Path archive = onlyFile(cache);
        Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(archive, PosixFilePermissions.fromString("rw-rw-r--"));
        assertThat(command()).contains("starts without its class archive: others may write to " + archive);
    }

    @Test
    void anArchiveOfAnotherUserIsNotUsed() throws Exception {
        assertThat(gateway("version").start().waitFor()).isZero();
        Path archive = onlyFile(directory.resolve("cache"));
        Path elsewhere = Files.move(archive, directory.resolve("elsewhere"));
        Files.createSymbolicLink(archive, elsewhere);
        assertThat(command()).contains("starts without its class archive: " + archive + " is a symbolic link (");
        if (Files.getAttribute(directory, "unix:uid").equals(0)) { // nobody else can give files away
            Files.delete(archive);
            Files.move(elsewhere, archive);
            Files.setAttribute(archive, "unix:uid", 65534);
            assertThat(command()).contains("starts without its class archive: " + archive + " belongs to another user");
        }
    }

    @Test
    void nothingIsPreparedWhereOthersMayWrite() throws Exception {
        Path cache = Files.createDirectory(directory.resolve("cache"));
        Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("rwxrwxrwx"));
        Process process = gateway("prepare").start();
        assertThat(output(process)).contains(cache + " is not used: others may write to " + cache);
        assertThat(process.waitFor()).isEqualTo(3);
        try (Stream<Path> files = Files.list(cache)) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void whereArchivesAreLoadedIsAChoice() throws Exception {
        ProcessBuilder random = gateway("version");
        random.environment().put("GATEWAY_DEBUG", "1");
        random.environment().put("GATEWAY_ARCHIVE_ADDRESS", "random");
        assertThat(output(random.start())).contains("-XX:ArchiveRelocationMode=1");
        ProcessBuilder misspelt = gateway("version");
        misspelt.environment().put("GATEWAY_ARCHIVE_ADDRESS", "any");
        assertThat(output(misspelt.start())).contains("expected fixed or random");
    }

    /** Starts it once more, and checks that it runs without an archive. */
    private String command() throws IOException {
        ProcessBuilder builder = gateway("version");
        builder.environment().put("GATEWAY_DEBUG", "1");
        String output = output(builder.start());
        assertThat(output)
                .contains("gateway 0.")
                .doesNotContain("SharedArchiveFile", "ArchiveClassesAtExit", "AOTCache");
        return output;
    }

    private static Path onlyFile(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.findFirst().orElseThrow();
        }
    }

    @Test
    void aStartFindsWhatWasPrepared() throws Exception {
        Process preparing = gateway("prepare").start();
        assertThat(output(preparing)).doesNotContainIgnoringCase("warning").doesNotContainIgnoringCase("error");
        assertThat(preparing.waitFor()).isZero();
        try (Stream<Path> files = Files.list(directory.resolve("cache"))) {
            assertThat(files).hasSize(1);
        }
        Path config = Files.writeString(
                directory.resolve("gateway.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                admin: {port: 0}
                """);
        Path loads = directory.resolve("loads");
        ProcessBuilder builder = gateway("run", "--config", config.toString());
        builder.environment().put("JAVA_OPTS", "-Xlog:class+load:file=" + loads);
        Process process = builder.start();
        try {
            admin(process);
            List<String> ours = Files.readAllLines(loads).stream()
                    .filter(line -> line.contains(" dev.gateway."))
                    .toList();
            List<String> read = ours.stream()
                    .filter(line -> !line.contains("source: shared objects file"))
                    .toList();
            assertThat(ours).hasSizeGreaterThan(100);
            assertThat(read).as("of %s classes, not archived", ours.size()).hasSizeLessThan(ours.size() / 10);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void itServesAndExitsWithZeroOnSigterm() throws Exception {
        Path config = Files.writeString(
                directory.resolve("gateway.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                admin: {port: 0}
                """);
        Process process = gateway("run", "--config", config.toString()).start();
        try {
            String admin = admin(process);
            assertThat(gateway("healthcheck", "--url", admin + "/ready").start().waitFor())
                    .isZero();
            process.toHandle().destroy(); // Process.destroy would close its output too
            assertThat(output(process)).contains("Stopped");
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            assertThat(gateway("healthcheck", "--url", admin + "/ready").start().waitFor())
                    .isEqualTo(1);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void itReloadsOnSighupAndEndsWithZeroOnQuit() throws Exception {
        String text =
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                admin: {port: 0}
                """;
        Path config = Files.writeString(directory.resolve("gateway.yaml"), text);
        // A process that is started with SIGHUP ignored, as below nohup, cannot hear it, nor can what it starts.
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=HUP"));
        ProcessBuilder gateway = gateway("run", "--config", config.toString());
        command.addAll(gateway.command());
        Process process = gateway.command(command).start();
        try {
            HttpRequest.Builder quit = HttpRequest.newBuilder(URI.create(admin(process) + "/quit"))
                    .POST(HttpRequest.BodyPublishers.noBody())
                    .header("X-Requested-By", "the test");
            Tools.signal("HUP", process.pid());
            await(process, "Reloaded: generation 2 is active");
            HttpResponse<String> answer =
                    HttpClient.newHttpClient().send(quit.build(), HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(202);
            assertThat(output(process)).contains("quit requested by the test", "Stopped");
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void itOpensTheAccessLogAnewOnSigusr1() throws Exception {
        Path log = directory.resolve("access.log");
        Path config = Files.writeString(
                directory.resolve("gateway.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                accessLog: {path: access.log}
                """);
        Process process = gateway("run", "--config", config.toString()).start();
        try {
            await(process, "Listener web at");
            Files.move(log, directory.resolve("access.log.1"));
            Tools.signal("USR1", process.pid());
            for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
                    !Files.exists(log) && System.nanoTime() < end; ) {
                LockSupport.parkNanos(5_000_000);
            }
            assertThat(log).exists();
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static void await(Process process, String wanted) throws IOException {
        StringBuilder seen = new StringBuilder();
        while (seen.indexOf(wanted) < 0) {
            int c = process.getInputStream().read();
            assertThat(c).as("the next byte after: %s", seen).isNotNegative();
            seen.append((char) c);
        }
    }

    private static String admin(Process process) throws IOException {
        StringBuilder seen = new StringBuilder();
        for (int c = process.getInputStream().read();
                c >= 0;
                c = process.getInputStream().read()) {
            seen.append((char) c);
            Matcher matcher = c == '\n' ? ADMIN.matcher(seen) : null;
            if (matcher != null && matcher.find()) {
                return matcher.group(1);
            }
        }
        throw new AssertionError("it did not start: " + seen);
    }
}
