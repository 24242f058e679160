package dev.gateway.filter.fields;

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

/** Which files have the value of a header, and that no message shows it. */
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class HeaderValueFileTest {
    @TempDir
    Path directory;

    private Path file(String content) throws IOException {
        return Files.write(directory.resolve("value"), content.getBytes(StandardCharsets.ISO_8859_1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sk-live 77", "sk-live 77\n", "sk-live 77\r\n"})
    void oneLineBreakAtTheEndIsCut(String content) throws IOException {
        assertThat(HeaderValueFile.read(file(content))).isEqualTo("sk-live 77");
    }

    @Test
    void otherBytesAreKept() throws IOException {
        assertThat(HeaderValueFile.read(file("a\tb\u00e9\u00ff"))).isEqualTo("a\tb\u00e9\u00ff");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\n",
                "sk-live\n\n",
                "sk-live\nX-Evil: 1",
                "sk-live\r",
                "sk-live\0",
                "sk-live\u007f",
                " sk-live",
                "sk-live ",
                "sk-live\t\n",
                "\u00ef\u00bb\u00bfsk-live",
            })
    void whatCouldBreakAMessageIsRefusedWithoutShowingIt(String content) throws IOException {
        Path file = file(content);
        assertThatThrownBy(() -> HeaderValueFile.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(file.toString())
                .hasMessageNotContaining("sk-live");
    }

    @Test
    void aFileHasAtMostSixteenKibibytes() throws IOException {
        assertThat(HeaderValueFile.read(file("a".repeat(16 << 10)))).hasSize(16 << 10);
        Path larger = file("a".repeat((16 << 10) + 1));
        assertThatThrownBy(() -> HeaderValueFile.read(larger)).hasMessageEndingWith("is larger than 16 KiB");
    }
}
