package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The page that compares the gateway with other proxies is that of the recorded answers. Each raw message of the unit tests
 * has answers, unless it is marked as one that differs from another in a value alone. No two others that all answer alike
 * do. Each difference has its reason. {@code CompatibilityIT} checks most of the gateway's answers, the full form all of
 * them.
 */
@Timeout(60)
class CompatibilityTest {
    @Test
    void thePageIsThatOfTheRecordedAnswers() throws Exception {
        Process check = new ProcessBuilder(Tools.find("python3"), "peers/run", "--check")
                .redirectErrorStream(true)
                .start();
        String said = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(check.waitFor()).as(said).isZero();
        assertThat(said).contains("each with a reason");
    }
}
