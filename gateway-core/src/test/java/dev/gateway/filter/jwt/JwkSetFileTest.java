package dev.gateway.filter.jwt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of public keys are bounded, and messages name them. */
class JwkSetFileTest {
    @Test
    void aFileIsReadAndBounded(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("jwks.json");
        Files.copy(Path.of("src/test/resources/broken/jwks.json"), file);
        assertThat(JwkSetFile.read(file).find("a", "EdDSA")).hasSize(1);
        Files.writeString(file, "{}");
        assertThatThrownBy(() -> JwkSetFile.read(file)).hasMessageStartingWith(file + ": not a JSON Web Key Set");
        Files.writeString(file, " ".repeat((1 << 20) + 1));
        assertThatThrownBy(() -> JwkSetFile.read(file)).hasMessage(file + " is larger than 1 MiB");
        assertThatThrownBy(() -> JwkSetFile.read(directory.resolve("none")))
                .hasMessage("there is no file " + directory.resolve("none"));
    }
}
