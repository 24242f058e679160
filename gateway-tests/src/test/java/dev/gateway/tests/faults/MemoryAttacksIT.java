package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A client makes the gateway hold what the gateway itself adds, such as error pages or answers of an authorization server, and
 * reads nothing. The process goes on, and its neighbor with another address gets all answers, on kept connections and on new
 * ones.
 *
 * <p>Here, one of the attacks runs for 3 seconds, without a bound of time or memory. {@code -Dattacks=long}, for a quiet machine, runs all
 * of them for 120 seconds. Then no answer may take a second, and 60 seconds later the memory is what it was.
 */
@Tag("alone")
@Tag("jar")
@Timeout(600)
class MemoryAttacksIT {
    private static final boolean LONG = "long".equals(System.getProperty("attacks"));
    private static final FaultRuns RUNS = new FaultRuns(LONG, 3, 2, Double.MAX_VALUE);

    /** An attack, and the heap of the gateway. */
    record Attack(String name, String heap) {}

    /** What runs at the same time. */
    static List<List<Attack>> attacks() {
        if (!LONG) {
            return List.of(List.of(new Attack("unread-grpc-refusals", "64m")));
        }
        List<List<Attack>> attacks = new ArrayList<>();
        for (String name : List.of("unread-pages", "unread-replies")) {
            for (String heap : List.of("64m", "256m", "512m")) {
                attacks.add(List.of(new Attack(name, heap)));
            }
        }
        for (String name : List.of(
                "unread-refusals",
                "unread-grpc-refusals",
                "waiting-consents",
                "waiting-sessions",
                "waiting-forwarded")) {
            attacks.add(List.of(new Attack(name, "64m")));
        }
        return attacks;
    }

    @ParameterizedTest
    @MethodSource("attacks")
    void aNeighborIsServedBesideClientsThatFillTheMemory(List<Attack> attacks) throws Exception {
        List<CompletableFuture<JsonNode>> results = new ArrayList<>();
        for (Attack attack : attacks) {
            results.add(RUNS.start(attack.name(), "--heap", attack.heap(), "--settling", LONG ? "30" : "0"));
        }
        for (CompletableFuture<JsonNode> each : results) {
            JsonNode result = each.get();
            if (LONG) {
                RUNS.assertServedAnew(result);
            } else {
                RUNS.assertAlive(result);
                assertThat(result.get("errors").asInt())
                        .as("errors: %s", result)
                        .isZero();
            }
        }
    }
}
