package dev.gateway.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.gateway.testing.LoggedLines;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProcessEnvironmentTest {
    @Test
    void theAccessLogOfAnEmbeddedGatewayIsPartOfTheApplicationsLog() throws Exception {
        try (LoggedLines log = LoggedLines.of(ProcessEnvironment.ACCESS_LOGGER).from(Level.INFO)) {
            ProcessEnvironment.shared().out().write("{\"path\":\"/{}\"}\n".getBytes(StandardCharsets.UTF_8));
            assertThat(log.messages()).containsExactly("{\"path\":\"/{}\"}");
        }
    }
}
