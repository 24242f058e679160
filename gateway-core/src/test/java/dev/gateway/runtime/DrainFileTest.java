package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gateway.runtime.DrainFile.Entry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The file of drains is read whatever is in it, and left in order. */
@SuppressWarnings("NullAway.Init") // what JUnit and the preparation set
class DrainFileTest {
    @TempDir
    Path directory;

    private DrainFile file;

    @BeforeEach
    void make() {
        file = new DrainFile(directory);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[", "{\"a\":", "- ",
            })
    void aTextThatIsNestedDeepIsNoJson(String level) throws IOException {
        Files.writeString(file.path(), level.repeat((1 << 20) / level.length()));
        assertThatThrownBy(file::read).isInstanceOf(IOException.class).hasMessage(file.path() + " is not JSON");
    }

    @Test
    void anEntryThatContainsItselfIsNoJson() throws IOException {
        Files.writeString(
                file.path(), "{format: 1, endpoints: [{upstream: a, endpoint: b, sessionsUntil: &x [[[*x]]]}]}");
        assertThatThrownBy(file::read).isInstanceOf(IOException.class);
    }

    @Test
    void aFileThatCouldNotBeReadAgainIsNotWritten() throws IOException {
        Entry entry = new Entry("app", "a".repeat(1 << 20), null);
        assertThatThrownBy(() -> file.write(List.of(entry))).hasMessage(file.path() + " would be larger than 1 MiB");
        assertThat(file.read()).isNull();
    }

    @Test
    void whatAKilledProcessHasLeftIsRemoved() throws IOException {
        Path left = Files.createFile(directory.resolve("new-123.json"));
        Path young = Files.createFile(directory.resolve("new-456.json"));
        Path other = Files.createFile(directory.resolve("new-site.json"));
        for (Path old : List.of(left, other)) {
            FileTime now = Files.getLastModifiedTime(old);
            Files.setLastModifiedTime(old, FileTime.from(now.toInstant().minus(Duration.ofMinutes(5))));
        }
        assertThat(file.prepare()).isEmpty();
        try (var files = Files.list(directory)) {
            assertThat(files).containsExactlyInAnyOrder(young, other);
        }
    }

    @Test
    void aFileThatEveryUserMayWriteIsWarnedOf() throws IOException {
        file.write(List.of());
        assertThat(file.prepare()).isEmpty();
        Files.setPosixFilePermissions(file.path(), PosixFilePermissions.fromString("rw----rw-"));
        assertThat(file.prepare())
                .isEqualTo("every user of this machine may write " + file.path() + ": check what it says");
    }

    @Test
    void aFileOfSomebodyElseIsWarnedOf() throws IOException {
        file.write(List.of());
        assumeTrue(Files.getOwner(file.path()).getName().equals("root"), "nobody else may give files away");
        Files.setOwner(
                file.path(),
                directory.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
        assertThat(file.prepare())
                .isEqualTo(file.path() + " belongs to nobody, not to the gateway's user root: check what it says");
    }
}
