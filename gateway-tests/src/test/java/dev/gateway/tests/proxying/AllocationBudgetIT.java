package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.AllocationProbe;
import dev.gateway.tests.support.Pairing;
import java.io.File;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A proxied request allocates little. Event loops of today allocate a tenth less than these budgets, and the same in each
 * run. Work for many requests at once, such as writing a batch of log lines, does not count. A commit that raises a budget
 * says what for.
 */
@Timeout(120)
class AllocationBudgetIT {
    private static final Map<Pairing, Integer> BUDGET_BYTES = new EnumMap<>(Map.of(
            Pairing.H1_TO_H1, 2_850,
            Pairing.H1_TO_H2, 4_500,
            Pairing.H2_TO_H1, 3_600,
            Pairing.H2_TO_H2, 5_300));

    @Test
    void aSmallRequestStaysWithinItsBudget() throws Exception {
        ProcessBuilder builder = new ProcessBuilder(List.of(
                        System.getProperty("java.home") + "/bin/java",
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Dio.netty.leakDetection.level=disabled",
                        "-cp",
                        System.getProperty("java.class.path"),
                        AllocationProbe.class.getName()))
                .redirectInput(new File("/dev/null"))
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().remove("TEST_TRANSPORT"); // io_uring allocates more, outside the code that is measured
        Process probe = builder.start();
        try {
            Map<Pairing, Integer> bytes = new EnumMap<>(Pairing.class);
            for (String line : probe.inputReader().lines().toList()) {
                String[] words = line.split(" ");
                if (words.length == 2 && words[0].contains("_TO_")) {
                    bytes.put(Pairing.valueOf(words[0]), Integer.parseInt(words[1]));
                }
            }
            assertThat(probe.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(probe.exitValue()).isZero();
            assertThat(bytes).containsOnlyKeys(Pairing.values());
            assertThat(bytes).as("bytes per request").allSatisfy((pairing, used) -> assertThat(used)
                    .as(pairing.name())
                    .isBetween(BUDGET_BYTES.get(pairing) / 2, BUDGET_BYTES.get(pairing)));
        } finally {
            probe.destroyForcibly();
        }
    }
}
