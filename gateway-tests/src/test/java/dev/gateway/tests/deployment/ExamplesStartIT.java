package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Rig;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples that no other test runs do not only load: the gateway starts, and is ready. */
class ExamplesStartIT {
    @ParameterizedTest
    @ValueSource(strings = {"edge", "chained"})
    void anExampleStarts(String name) throws Exception {
        String yaml = Files.readString(Path.of("../config/" + name + ".yaml"))
                .replaceAll("(?m)^( +port:) \\d+( +#.*)?$", "$1 0")
                .replaceAll("(\\{name: .*port:) \\d+(, protocol)", "$1 0$2")
                .replaceAll("(admin: \\{.*port:) \\d+", "$1 0")
                .replace(" run/", " ");
        try (Rig rig = Rig.start(yaml)) {
            assertThat(rig.adminResponse("/ready").statusCode()).isEqualTo(200);
        }
    }
}
