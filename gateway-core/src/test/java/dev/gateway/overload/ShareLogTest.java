package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.LoggedLines;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ShareLogTest {
    private long now;

    @Test
    void thereIsOneLineAMinute() {
        try (LoggedLines log = LoggedLines.of(ShareLog.class)) {
            ShareLog shares = new ShareLog(() -> now);
            shares.tell("web", "192.0.2.7");
            shares.tell("web", "192.0.2.8");
            now = TimeUnit.MINUTES.toNanos(1) - 1;
            shares.tell("web", "192.0.2.8");
            now++;
            shares.tell("other", "192.0.2.9");
            assertThat(log.warnings()).hasSize(2);
            assertThat(log.warnings().get(0))
                    .startsWith("listener web refuses requests (1 so far), such as of 192.0.2.7,");
            assertThat(log.warnings().get(1))
                    .startsWith("listener other refuses requests (4 so far), such as of 192.0.2.9,");
        }
    }
}
