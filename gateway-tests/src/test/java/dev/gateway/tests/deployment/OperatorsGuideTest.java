package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.Cause;
import dev.gateway.tests.support.Documents;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The documents tell what to do about every failure. */
class OperatorsGuideTest {
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNKNOWN")
    void everyCauseIsExplained(Cause cause) throws Exception {
        String row = "\n| `" + cause.name().toLowerCase(Locale.ROOT) + "` | ";
        List<Path> explaining = new ArrayList<>();
        for (Path document : Documents.forUsers()) {
            if (Files.readString(document).contains(row)) {
                explaining.add(document);
            }
        }
        assertThat(explaining).as("the documents with a row for the cause").hasSize(1);
    }
}
