package dev.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ExpiryWarningsTest {
    @Test
    void allCertificatesAreLookedAtOnceADay() {
        Instant start = Instant.parse("2026-01-01T00:00:00Z");
        ExpiryWarnings warnings = new ExpiryWarnings(start);
        assertThat(warnings.isDue(start.plus(Duration.ofHours(23)))).isFalse();
        assertThat(warnings.isDue(start.plus(Duration.ofHours(24)))).isTrue();
        assertThat(warnings.isDue(start.plus(Duration.ofHours(25)))).isFalse();
        assertThat(warnings.isDue(start.plus(Duration.ofHours(49)))).isTrue();
    }
}
