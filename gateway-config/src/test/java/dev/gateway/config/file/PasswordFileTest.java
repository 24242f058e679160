package dev.gateway.config.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which files have a password, and that no message shows it. */
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class PasswordFileTest {
    @TempDir
    Path directory;

    private Path file(String content) throws IOException {
        return Files.writeString(directory.resolve("password"), content);
    }

    @ParameterizedTest
    @ValueSource(strings = {"p\u00e4ss w\u20acrd", "p\u00e4ss w\u20acrd\n", "p\u00e4ss w\u20acrd\r\n"})
    void oneLineBreakAtTheEndIsCut(String content) throws IOException {
        assertThat(PasswordFile.read(file(content))).isEqualTo("p\u00e4ss w\u20acrd");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\n",
                "secret\n\n",
                "secret\nother",
                "secret\r",
                "secret\0",
                " secret",
                "secret ",
                "\ufeffsecret"
            })
    void whatIsNoPasswordIsRefusedWithoutShowingIt(String content) throws IOException {
        Path file = file(content);
        assertThatThrownBy(() -> PasswordFile.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(file.toString())
                .hasMessageNotContaining("secret");
    }

    @Test
    void otherEncodingsAreRefused() throws IOException {
        Path file = Files.write(directory.resolve("password"), "p\u00e4ss".getBytes(StandardCharsets.ISO_8859_1));
        assertThatThrownBy(() -> PasswordFile.read(file)).hasMessageContaining("UTF-8");
    }

    @Test
    void aFileHasAtMostSixteenKibibytes() throws IOException {
        assertThat(PasswordFile.read(file("a".repeat(16 << 10)))).hasSize(16 << 10);
        Path larger = file("a".repeat((16 << 10) + 1));
        assertThatThrownBy(() -> PasswordFile.read(larger)).hasMessageEndingWith("is larger than 16 KiB");
    }
}
