package dev.gateway.config.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class ErrorPageFileTest {
    private static final int MOST = ErrorPageFile.MAX_KIBIBYTES << 10;

    @TempDir
    Path directory;

    private Path file(byte[] content) throws IOException {
        return Files.write(directory.resolve("404.html"), content);
    }

    private Path file(String content) throws IOException {
        return Files.writeString(directory.resolve("404.html"), content);
    }

    @Test
    void aPageIsTakenAsItIsButForAByteOrderMark() throws IOException {
        assertThat(ErrorPageFile.read(file("\ufeff<p>übel</p>\n"))).isEqualTo("<p>übel</p>\n");
        assertThat(ErrorPageFile.read(file("x".repeat(MOST)))).hasSize(MOST);
    }

    @Test
    void whatIsNoPageIsRefusedByName() throws IOException {
        assertThatThrownBy(() -> ErrorPageFile.read(file("x".repeat(MOST + 1))))
                .hasMessageContaining("404.html is larger than 64 KiB");
        assertThatThrownBy(() -> ErrorPageFile.read(file(" \n"))).hasMessageContaining("404.html is empty");
        assertThatThrownBy(() -> ErrorPageFile.read(file(new byte[] {'a', (byte) 0xff})))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("404.html");
        assertThatThrownBy(() -> ErrorPageFile.read(directory.resolve("none.html")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("none.html");
    }
}
