package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page about applications behind the gateway is that of the recorded results, and each action has the expected result. */
@Timeout(60)
class ApplicationsPageTest {
    @Test
    void thePageIsThatOfTheRecordedResults() throws Exception {
        Process check = new ProcessBuilder(Tools.find("python3"), "applications/run", "--check")
                .redirectErrorStream(true)
                .start();
        String said = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(check.waitFor()).as(said).isZero();
        assertThat(said).contains("the page is theirs");
    }
}
