package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Runs of {@code faults/run}, each with a gateway of its own, and what all of them must show. */
final class FaultRuns {
    private static final int LONG_SECONDS = 120;
    private static final int LONG_AFTER = 60;
    private static final int LONG_WARM_UP = 5;

    private final boolean isLong;
    private final int seconds;
    private final int after;
    private final double worst;
    private final double readyMib;

    /**
     * @param isLong whether a fault lasts 120 seconds, the neighbor is watched for 60 more, and no answer may take a second
     * @param seconds how long a fault lasts otherwise
     * @param after how long the neighbor is watched afterwards
     * @param worst how many seconds an answer may take
     */
    FaultRuns(boolean isLong, int seconds, int after, double worst) {
        this.isLong = isLong;
        this.seconds = isLong ? LONG_SECONDS : seconds;
        this.after = isLong ? LONG_AFTER : after;
        this.worst = isLong ? 1 : worst;
        this.readyMib = isLong ? 0 : 2; // what two event loops may keep ready: the attack has just ended
    }

    /** They run at the same time; in the long form, whose bound is a second, one by one. */
    void assertServed(String... faults) throws Exception {
        List<CompletableFuture<JsonNode>> results = new ArrayList<>();
        for (String fault : faults) {
            CompletableFuture<JsonNode> result = start(fault);
            results.add(result);
            if (isLong) {
                result.get();
            }
        }
        for (CompletableFuture<JsonNode> each : results) {
            assertServed(each.get());
        }
    }

    void assertServed(JsonNode result) {
        assertAlive(result);
        assertThat(result.get("errors").asInt()).as("errors: %s", result).isZero();
        assertThat(result.get("worst").asDouble()).as("worst: %s", result).isLessThan(worst);
        assertThat(result.get("end").asDouble())
                .as("memory: %s", result)
                .isLessThan(1.2 * result.get("idle").asDouble() + readyMib);
    }

    /** Checks also that new connections do not wait behind those of the attackers. */
    void assertServedAnew(JsonNode result) {
        assertServed(result);
        assertThat(result.get("worstNew").asDouble())
                .as("worst on new connections: %s", result)
                .isLessThan(worst);
    }

    void assertAlive(JsonNode result) {
        assertThat(result.get("alive").asBoolean()).as("%s", result).isTrue();
        assertThat(result.get("answers").asInt()).as("answers: %s", result).isPositive();
        assertThat(result.get("answersAfter").asInt())
                .as("afterwards: %s", result)
                .isPositive();
        assertThat(result.get("healthErrors").asInt())
                .as("/healthz: %s", result)
                .isZero();
        assertThat(result.get("healthWorst").asDouble())
                .as("/healthz: %s", result)
                .isLessThan(worst);
    }

    /** Begins a run; its result has what {@code --json} prints. */
    CompletableFuture<JsonNode> start(String fault, String... options) {
        String python = Tools.find("python3"); // here, as only the test's own thread can end it
        return CompletableFuture.supplyAsync(() -> {
            try {
                return run(python, fault, options);
            } catch (IOException | InterruptedException e) {
                throw new CompletionException(e);
            }
        });
    }

    private JsonNode run(String python, String fault, String... options) throws IOException, InterruptedException {
        String named = System.getProperty("gateway.jar");
        List<String> command = new ArrayList<>(List.of(
                python,
                "faults/run",
                fault,
                "--json",
                "--proxies",
                "gateway",
                "--java",
                System.getProperty("java.home") + "/bin/java",
                "--seconds",
                Integer.toString(seconds),
                "--after",
                Integer.toString(after),
                "--warm-up",
                Integer.toString(isLong ? LONG_WARM_UP : 0)));
        command.addAll(List.of(options));
        if (named != null) {
            command.addAll(List.of("--jar", Path.of(named).toAbsolutePath().toString()));
        }
        Tools.Result result = Tools.run(isLong ? 360 : 150, command);
        assertThat(result.exit()).as(result.output()).isZero();
        return new ObjectMapper().readTree(result.output().lines().reduce("", (before, line) -> line));
    }
}
