package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The page about tools behind the forward proxy is that of the recorded results. Each tool has a result in each situation,
 * and the gateway refused for the reason that the situation is about.
 */
@Timeout(60)
class ClientsPageTest {
    @Test
    void thePageIsThatOfTheRecordedResults() throws Exception {
        Process check = new ProcessBuilder(Tools.find("python3"), "clients/run", "--check")
                .redirectErrorStream(true)
                .start();
        String said = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(check.waitFor()).as(said).isZero();
        assertThat(said).contains("the page is theirs");
    }
}
