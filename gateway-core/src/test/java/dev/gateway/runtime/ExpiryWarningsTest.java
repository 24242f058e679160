package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.observe.metrics.state.CertificateExpiry;
import dev.gateway.testing.LoggedLines;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ExpiryWarningsTest {
    private static final Instant END = Instant.parse("2026-06-01T00:00:00Z");

    @Test
    void allCertificatesAreLookedAtOnceADay() {
        AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 1);
        ExpiryWarnings warnings = new ExpiryWarnings(clock::get);
        clock.addAndGet(TimeUnit.HOURS.toNanos(23));
        assertThat(warnings.isDue()).isFalse();
        clock.addAndGet(TimeUnit.HOURS.toNanos(1));
        assertThat(warnings.isDue()).isTrue();
        clock.addAndGet(TimeUnit.HOURS.toNanos(1));
        assertThat(warnings.isDue()).isFalse();
        clock.addAndGet(TimeUnit.HOURS.toNanos(23));
        assertThat(warnings.isDue()).isTrue();
    }

    /** A clock that was wrong for a while has no effect afterwards. */
    @Test
    void whatIsSaidIsTrueByTheClockAsItIs() {
        assertThat(told(END.minus(Duration.ofDays(15)))).isEmpty();
        assertThat(told(END.plus(Duration.ofDays(365))))
                .singleElement()
                .asString()
                .contains("expired at " + END);
        assertThat(told(END.minus(Duration.ofDays(15)))).isEmpty();
        assertThat(told(END.minus(Duration.ofDays(13))))
                .singleElement()
                .asString()
                .contains("expires soon, at " + END);
    }

    private static List<String> told(Instant now) {
        try (LoggedLines log = LoggedLines.of(ExpiryWarnings.class)) {
            ExpiryWarnings.tell(List.of(new CertificateExpiry("listener", "web", "CN=a", END.getEpochSecond())), now);
            return log.messages();
        }
    }
}
