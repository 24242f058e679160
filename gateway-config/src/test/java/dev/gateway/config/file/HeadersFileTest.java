package dev.gateway.config.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeadersFileTest {
    @TempDir
    Path directory;

    @Test
    void readsAHeaderFromEachLine() throws Exception {
        Path file = write("\ufeff# who we are\nAuthorization: Bearer a:b\n\nX-Scope:team \n");
        assertThat(HeadersFile.read(file))
                .containsExactly(entry("Authorization", "Bearer a:b"), entry("X-Scope", "team"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
            secret               | expected 'name: value'
            a b: secret          | "no header name before ':': letters, digits and !#$%&'*+-.^_`|~ only"
            Host: secret         | the gateway sets Host itself: remove it
            Empty:               | no value that a header can have: expected one line without control characters
            x-given: secret      | x-given for a second time
            """)
    void saysWhatIsWrongAndWhereAndShowsNoValue(String line, String problem) throws Exception {
        Path file = write("X-Given: here\n" + line + "\n");
        assertThatThrownBy(() -> HeadersFile.read(file))
                .isInstanceOf(IOException.class)
                .hasMessage(file + ":2:1: " + problem);
    }

    private Path write(String text) throws IOException {
        return Files.writeString(directory.resolve("headers"), text);
    }
}
