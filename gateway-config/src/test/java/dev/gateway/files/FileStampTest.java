package dev.gateway.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That each kind of change makes another stamp is tested by those who watch files. */
class FileStampTest {
    private Path file;

    @BeforeEach
    void makeFile(@TempDir Path directory) throws IOException {
        file = Files.writeString(directory.resolve("file"), "one");
    }

    private boolean isYoung(Duration age) throws IOException {
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(age)));
        return FileStamp.of(file).isYoung();
    }

    @Test
    void aFileIsTheSameUntilItChanges() throws Exception {
        FileStamp before = FileStamp.of(file);
        assertThat(FileStamp.of(file)).isEqualTo(before);
        Files.writeString(file, "longer");
        assertThat(FileStamp.of(file)).isNotEqualTo(before);
    }

    @Test
    void aFileIsYoungForAMomentOrIfItIsFromTheFuture() throws Exception {
        assertThat(isYoung(Duration.ZERO)).isTrue();
        assertThat(isYoung(Duration.ofHours(-1))).isTrue();
        assertThat(isYoung(Duration.ofHours(1))).isFalse();
    }

    @Test
    void aFileThatIsMissingIsSaidToBe() throws Exception {
        Files.delete(file);
        assertThatThrownBy(() -> FileStamp.of(file))
                .isInstanceOf(FileFault.class)
                .hasMessage("there is no file " + file);
    }
}
