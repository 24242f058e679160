package dev.gateway.config.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which files have keys of sessions, and that no message shows one. */
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class SessionKeyFileTest {
    private static final String KEY = "0123456789abcdef0123456789abcdef";

    @TempDir
    Path directory;

    private Path file(String content) throws IOException {
        return Files.writeString(directory.resolve("keys"), content);
    }

    @Test
    void eachLineIsAKeyUnlessItIsEmptyOrARemark() throws IOException {
        assertThat(SessionKeyFile.read(file(KEY))).containsExactly(KEY);
        assertThat(SessionKeyFile.read(file("# " + KEY + "\n" + KEY))).containsExactly(KEY);
        assertThat(SessionKeyFile.read(file("\n " + KEY + "2\r\n\n" + KEY + "1\n")))
                .containsExactly(KEY + "2", KEY + "1");
    }

    @Test
    void aFileHasOneKeyAtLeastAndEightAtMost() throws IOException {
        refuse(" \n\n", "has no key");
        assertThat(SessionKeyFile.read(file(lines(8)))).hasSize(8);
        refuse(lines(9), "has more than 8 keys");
    }

    private static String lines(int count) {
        return String.join("\n", Collections.nCopies(count, KEY));
    }

    @Test
    void aShortKeyIsRefusedWithoutShowingIt() throws IOException {
        refuse(KEY + "\nsecret", "key 2 has fewer than 32 characters");
    }

    @Test
    void aLargeFileIsRefused() throws IOException {
        refuse("x".repeat(16 * 1024 + 1), "16");
    }

    private void refuse(String content, String message) throws IOException {
        Path file = file(content);
        assertThatThrownBy(() -> SessionKeyFile.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining(message)
                .hasMessageNotContaining("secret")
                .hasMessageNotContaining(KEY);
    }
}
