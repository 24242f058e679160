package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelVersionTest {
    @ParameterizedTest
    @CsvSource({
        "6.17.0, true",
        "6.17, true",
        "6.18.44-fc-v657, true",
        "7.0.0-rc1+, true",
        "10.1, true",
        "6.16.12-generic, false",
        "6.9.3, false",
        "5.19.0, false",
        "14.4.1-RELEASE, true",
        "6, false",
        "x6.17.0, false",
        "'', false",
        "123456789012.17.0, false",
    })
    void isComparedByItsNumbers(String release, boolean atLeast) {
        assertThat(KernelVersion.parse(release).isAtLeast(6, 17)).isEqualTo(atLeast);
    }

    @Test
    void isKnownOfTheKernelThatRunsHere() {
        assertThat(KernelVersion.current().isAtLeast(1, 0)).isTrue();
    }
}
