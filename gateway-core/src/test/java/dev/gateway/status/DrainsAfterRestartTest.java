package dev.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.gateway.runtime.SavedDrains;
import dev.gateway.testing.LoggedLines;
import dev.gateway.upstream.Health;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A gateway that starts again knows which endpoints operators have taken out of service. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class DrainsAfterRestartTest {
    private static final String WITHOUT =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes: [{rules: [{backendRefs: [{name: app}, {name: cart}]}]}]
            upstreams:
              - {name: app, endpoints: [{host: 127.0.0.1, port: 9001}, {host: 127.0.0.1, port: 9002}]}
              - name: cart
                endpoints: [{host: 127.0.0.1, port: 9003}, {host: 127.0.0.1, port: 9004}]
                sessionPersistence: {sessionName: sid, keyFile: keys}
            admin: {enabled: false}
            accessLog: {format: off}
            workers: 1
            """;

    private static final String WITH = WITHOUT + "stateDirectory: state\n";

    @TempDir
    Path directory;

    private final LoggedLines log = LoggedLines.of(SavedDrains.class).from(Level.INFO);
    private @Nullable StatusRig gateway;

    @BeforeEach
    void begin() throws IOException {
        Files.writeString(directory.resolve("keys"), "0123456789abcdef0123456789abcdef\n");
    }

    @AfterEach
    void end() {
        log.close();
        stop();
    }

    private StatusRig restart(String yaml) throws Exception {
        stop();
        StatusRig started = StatusRig.start(yaml, directory);
        gateway = started;
        return started;
    }

    private void stop() {
        StatusRig running = gateway;
        gateway = null;
        if (running != null) {
            running.close();
        }
    }

    private static String drain(StatusRig rig, String upstream, int port, @Nullable Duration sessions) {
        return rig.endpointDrain
                .drain(upstream, "127.0.0.1:" + port, sessions, "a test")
                .join()
                .text();
    }

    private static List<String> drained(StatusRig rig, String upstream) {
        Health health = Objects.requireNonNull(rig.active().upstream(upstream)).health();
        return health.drains().stream().map(Health.Drain::endpoint).toList();
    }

    private Path file() {
        return directory.resolve("state/drained-endpoints.json");
    }

    private Path save(String content) throws IOException {
        Files.createDirectories(directory.resolve("state"));
        return Files.writeString(file(), content);
    }

    @Test
    void whatDrainsDrainsAfterARestartUntilAnOperatorPutsItBack() throws Exception {
        StatusRig first = restart(WITH);
        assertThat(drain(first, "app", 9002, null))
                .isEqualTo("endpoint 127.0.0.1:9002 of upstream app gets no new requests");
        StatusRig second = restart(WITH);
        assertThat(drained(second, "app")).containsExactly("127.0.0.1:9002");
        assertThat(drained(second, "cart")).isEmpty();
        second.endpointDrain.undrain("app", "127.0.0.1:9002", "a test").join();
        assertThat(drained(restart(WITH), "app")).isEmpty();
        assertThat(log.warnings()).isEmpty();
    }

    @Test
    void onlyTheGatewaysOwnUserReadsTheFile() throws Exception {
        drain(restart(WITH), "app", 9002, null);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("state"))))
                .isEqualTo("rwx------");
        try (var files = Files.list(directory.resolve("state"))) {
            assertThat(files).as("nothing but the file").containsExactly(file());
        }
    }

    @Test
    void sessionsOfADrainingEndpointStayForAsLongAsTheyWouldHave() throws Exception {
        drain(restart(WITH), "cart", 9003, Duration.ofHours(2));
        Health cart =
                Objects.requireNonNull(restart(WITH).active().upstream("cart")).health();
        assertThat(cart.drains()).hasSize(1);
        assertThat(Duration.ofNanos(cart.drains().get(0).sessionsNanos()))
                .isBetween(Duration.ofMinutes(118), Duration.ofHours(2));
    }

    @Test
    void sessionsWhoseTimeEndsAfterTheRestartGoToOthersThen() throws Exception {
        save(DRAINED.formatted(
                "cart",
                "127.0.0.1:9003",
                ", \"sessionsUntil\": \"" + Instant.now().plusSeconds(1) + "\""));
        StatusRig rig = restart(WITH);
        Health cart = Objects.requireNonNull(rig.active().upstream("cart")).health();
        while (cart.drains().get(0).number() != Health.Drain.NO_SESSIONS) {
            Thread.onSpinWait();
        }
        assertThat(drained(rig, "cart")).containsExactly("127.0.0.1:9003");
    }

    private static final String DRAINED =
            "{\"format\": 1, \"endpoints\": [{\"upstream\": \"%s\", \"endpoint\": \"%s\"%s}]}";

    @ParameterizedTest
    @ValueSource(strings = {"", ", \"sessionsUntil\": \"2020-01-01T00:00:00Z\""})
    void sessionsWhoseTimeHasEndedMeanwhileGoToOthers(String until) throws Exception {
        save(DRAINED.formatted("cart", "127.0.0.1:9003", until));
        Health cart =
                Objects.requireNonNull(restart(WITH).active().upstream("cart")).health();
        assertThat(cart.drains()).containsExactly(new Health.Drain("127.0.0.1:9003", Health.Drain.NO_SESSIONS, 0));
    }

    @Test
    void theDrainOfAnEndpointOrUpstreamThatHasGoneIsForgotten() throws Exception {
        StatusRig first = restart(WITH);
        drain(first, "app", 9001, null);
        drain(first, "app", 9002, null);
        drain(first, "cart", 9004, Duration.ZERO);
        String less = WITH.replace("{host: 127.0.0.1, port: 9001}, ", "").replace("name: cart", "name: basket");
        StatusRig second = restart(less);
        second.look();
        second.look();
        assertThat(drained(second, "app")).containsExactly("127.0.0.1:9002");
        assertThat(log.all())
                .extracting(ILoggingEvent::getFormattedMessage)
                .contains(
                        "Endpoint 127.0.0.1:9001 of upstream app will drain, as before the start, if it is found",
                        "Endpoint 127.0.0.1:9002 of upstream app drains, as before the start",
                        "Endpoint 127.0.0.1:9004 of upstream cart is not drained any more: there is no such upstream",
                        "Not drained any more, because upstream app has no such endpoint: 127.0.0.1:9001");
        StatusRig third = restart(WITH);
        assertThat(drained(third, "app")).as("for ever").containsExactly("127.0.0.1:9002");
        assertThat(drained(third, "cart")).isEmpty();
    }

    @Test
    void anEndpointThatLeavesWhileItDrainsComesBackInService() throws Exception {
        StatusRig first = restart(WITH);
        drain(first, "app", 9001, null);
        first.reload(WITH.replace("{host: 127.0.0.1, port: 9001}, ", ""), () -> {});
        first.look();
        assertThat(Files.readString(file())).doesNotContain("9001");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"format\": 1, \"endp|is not JSON",
                "''|is not a file of drains",
                "[]|is not a file of drains",
                "{\"format\": 1}|has no list of endpoints",
                "{\"format\": 2, \"endpoints\": []}|has format 2, which this version of the gateway cannot read",
                "{\"format\": 1, \"endpoints\": [{\"upstream\": \"app\"}]}|has an entry without upstream or endpoint",
                "{\"format\": 1, \"endpoints\": [{\"upstream\": \"app\", \"endpoint\": \"127.0.0.1:9001\", "
                        + "\"sessionsUntil\": \"soon\"}]}|has a time that cannot be read: soon",
            })
    void aFileThatCannotBeReadIsWarnedOfOnceAndStaysUntilTheNextDrain(String content, String problem) throws Exception {
        save(content);
        StatusRig rig = restart(WITH);
        rig.look();
        assertThat(log.warnings())
                .containsExactly(file() + " " + problem + "; the gateway starts with no endpoint drained");
        assertThat(drained(rig, "app")).isEmpty();
        assertThat(file()).hasContent(content);
        drain(rig, "app", 9002, null);
        assertThat(drained(restart(WITH), "app")).containsExactly("127.0.0.1:9002");
        assertThat(log.warnings()).hasSize(1);
    }

    @Test
    void bytesThatAreNoTextAreWarnedOf() throws Exception {
        Files.write(save(""), new byte[] {(byte) 0xff, 0, 1});
        restart(WITH);
        assertThat(log.warnings()).hasSize(1);
        assertThat(log.warnings().get(0)).contains("is not UTF-8");
    }

    @Test
    void withoutTheKeyNothingIsKept() throws Exception {
        drain(restart(WITHOUT), "app", 9002, null);
        assertThat(drained(restart(WITHOUT), "app")).isEmpty();
        assertThat(directory.resolve("state")).doesNotExist();
    }

    @Test
    void aReloadThatNamesADirectoryKeepsWhatDrainsAlready() throws Exception {
        StatusRig first = restart(WITHOUT);
        drain(first, "app", 9002, null);
        first.reload(WITH, () -> {});
        first.look();
        assertThat(drained(restart(WITH), "app")).containsExactly("127.0.0.1:9002");
    }

    @Test
    void theOperatorIsToldIfADrainWillNotSurviveAndItDoesOnceTheCauseIsGone() throws Exception {
        Path blocked = Files.writeString(directory.resolve("blocked"), "");
        String yaml = WITHOUT + "stateDirectory: blocked/state\n";
        StatusRig rig = restart(yaml);
        String problem = "drains of endpoints will not survive a restart: cannot write "
                + directory.resolve("blocked/state/drained-endpoints.json") + ": " + blocked
                + " is a file, not a directory";
        assertThat(log.warnings()).containsExactly(problem);
        assertThat(drain(rig, "app", 9002, null))
                .isEqualTo("endpoint 127.0.0.1:9002 of upstream app gets no new requests\n" + problem);
        assertThat(rig.generations.drains().problem()).isEqualTo(problem);
        Files.delete(blocked);
        rig.look();
        assertThat(rig.generations.drains().problem()).isEmpty();
        assertThat(log.warnings()).hasSize(1);
        assertThat(drained(restart(yaml), "app")).containsExactly("127.0.0.1:9002");
    }

    @Test
    void aFileInThePlaceOfTheDirectoryIsNamedAndOnceItHasGoneAllIsSaved() throws Exception {
        StatusRig rig = restart(WITH);
        drain(rig, "app", 9001, null);
        Files.delete(file());
        Path state = file().getParent();
        Files.delete(state);
        Files.writeString(state, "");
        assertThat(drain(rig, "app", 9002, null))
                .endsWith("drains of endpoints will not survive a restart: cannot write " + file() + ": " + state
                        + " is a file, not a directory");
        rig.look();
        assertThat(rig.generations.drains().problem()).isNotEmpty();
        Files.delete(state);
        rig.look();
        assertThat(rig.generations.drains().problem()).isEmpty();
        assertThat(drained(restart(WITH), "app")).containsExactlyInAnyOrder("127.0.0.1:9001", "127.0.0.1:9002");
    }

    @Test
    void aReloadThatNamesADirectoryReplacesAFileThatCannotBeRead() throws Exception {
        save(" ".repeat((4 << 20) + 1));
        StatusRig first = restart(WITHOUT);
        drain(first, "app", 9002, null);
        first.reload(WITH, () -> {});
        first.look();
        assertThat(drained(restart(WITH), "app")).containsExactly("127.0.0.1:9002");
        assertThat(log.warnings()).isEmpty();
    }

    @Test
    void whatAnotherProcessHasWrittenSinceStaysUnlessAnOperatorAsks() throws Exception {
        StatusRig former = restart(WITH);
        drain(former, "app", 9001, null);
        String later = DRAINED.formatted("app", "127.0.0.1:9002", "");
        save(later);
        former.reload(WITH.replace("{host: 127.0.0.1, port: 9001}, ", ""), () -> {});
        former.look();
        assertThat(file()).hasContent(later);
        drain(former, "cart", 9003, Duration.ZERO);
        assertThat(Files.readString(file(), StandardCharsets.UTF_8))
                .contains("9003")
                .doesNotContain("9002");
    }

    /** The other process of a hand-over, which ends or is ended. */
    @Test
    void afterAnotherProcessHasWrittenChangesAreFollowed() throws Exception {
        StatusRig rig = restart(WITH);
        drain(rig, "app", 9001, null);
        drain(rig, "cart", 9003, Duration.ofHours(2));
        drain(rig, "cart", 9004, Duration.ZERO);
        save(
                """
                {"format": 1, "endpoints": [
                  {"upstream": "cart", "endpoint": "127.0.0.1:9003", "sessionsUntil": "%s"},
                  {"upstream": "app", "endpoint": "127.0.0.1:9001"},
                  {"upstream": "app", "endpoint": "127.0.0.1:9002"}]}
                """
                        .formatted(Instant.now().plusSeconds(7200)));
        Health cart = Objects.requireNonNull(rig.active().upstream("cart")).health();
        long number = cart.drains().get(0).number();
        assertThat(cart.endSessions("127.0.0.1:9003", number)).isTrue();
        rig.look();
        assertThat(Files.readString(file()))
                .as("what has changed, and what the other knows better")
                .doesNotContain("sessionsUntil", "9004")
                .contains("9001", "9002", "9003");
        rig.reload(WITH.replace("{host: 127.0.0.1, port: 9001}, ", ""), () -> {});
        rig.look();
        assertThat(Files.readString(file())).doesNotContain("9001").contains("9002", "9003");
    }

    @Test
    void aFileThatHasBeenDeletedIsWrittenWholeAtTheNextChange() throws Exception {
        StatusRig rig = restart(WITH);
        drain(rig, "app", 9001, null);
        drain(rig, "cart", 9003, Duration.ZERO);
        Files.delete(file());
        rig.reload(WITH.replace("{host: 127.0.0.1, port: 9001}, ", ""), () -> {});
        rig.look();
        assertThat(Files.readString(file())).doesNotContain("9001").contains("9003");
    }

    @Test
    void aProblemEndsAlsoIfAnotherProcessHasWritten() throws Exception {
        StatusRig rig = restart(WITH);
        drain(rig, "app", 9001, null);
        drain(rig, "cart", 9003, Duration.ZERO);
        save("[]");
        rig.reload(WITH.replace("{host: 127.0.0.1, port: 9001}, ", ""), () -> {});
        rig.look();
        assertThat(rig.generations.drains().problem())
                .isEqualTo("drains of endpoints will not survive a restart: " + file() + " is not a file of drains");
        save(DRAINED.formatted("cart", "127.0.0.1:9003", ""));
        rig.look();
        assertThat(rig.generations.drains().problem()).isEmpty();
    }
}
