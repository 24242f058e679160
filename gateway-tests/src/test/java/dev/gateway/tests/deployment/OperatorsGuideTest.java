package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.Cause;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code deploy/README.md} tells what to do about every failure. */
class OperatorsGuideTest {
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNKNOWN")
    void everyCauseIsExplained(Cause cause) throws Exception {
        assertThat(Files.readString(Path.of("../deploy/README.md")))
                .contains("\n| `" + cause.name().toLowerCase(Locale.ROOT) + "` | ");
    }
}
