package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WatchedFileTest {
    private static final FileTime LONG_AGO = FileTime.from(Instant.parse("2020-01-01T00:00:00Z"));

    private Path directory;
    private Path path;
    private int parsed;

    @BeforeEach
    void makeFile(@TempDir Path empty) throws IOException {
        directory = empty;
        path = directory.resolve("file");
        write(path, "one");
    }

    private static void write(Path file, String text) throws IOException {
        Files.writeString(file, text);
        Files.setLastModifiedTime(file, LONG_AGO);
    }

    private record Said(String text, List<String> faults) implements Accounts.Content {}

    private WatchedFile<Said> watch() throws AuthFileException {
        return new WatchedFile<>(path, (file, text) -> {
            parsed++;
            return new Said(text, text.startsWith("broken") ? List.of(file + ":1: broken") : List.of());
        });
    }

    @Test
    void aFileThatHasNotChangedIsNotReadAgain() throws Exception {
        WatchedFile<Said> file = watch();
        file.refresh();
        file.refresh();

        assertThat(file.value().text()).isEqualTo("one");
        assertThat(parsed).isEqualTo(1);
    }

    @Test
    void aFileThatWasWrittenToIsReadAgain() throws Exception {
        WatchedFile<Said> file = watch();
        Files.writeString(path, "longer");
        file.refresh();

        assertThat(file.value().text()).isEqualTo("longer");
    }

    @Test
    void aFileWrittenTwiceInAMomentIsReadTwice() throws Exception {
        FileTime now = FileTime.from(Instant.now());
        Files.setLastModifiedTime(path, now);
        WatchedFile<Said> file = watch();
        Files.writeString(path, "two");
        Files.setLastModifiedTime(path, now);
        file.refresh();

        assertThat(file.value().text()).isEqualTo("two");
    }

    /** As when the clock was set back since it was written: nobody can tell how old it is. */
    @Test
    void aFileFromTheFutureIsLookedIntoEachTime() throws Exception {
        FileTime future = FileTime.from(Instant.now().plus(1, ChronoUnit.HOURS));
        Files.setLastModifiedTime(path, future);
        WatchedFile<Said> file = watch();
        file.refresh();
        assertThat(parsed).as("has not changed").isEqualTo(1);
        Files.writeString(path, "two");
        Files.setLastModifiedTime(path, future);
        file.refresh();

        assertThat(file.value().text()).isEqualTo("two");
    }

    /** As when the clock was set forward by years, and the file is written now. */
    @Test
    void aFileIsReadAgainThoughItsTimeIsEarlierThanBefore() throws Exception {
        Files.setLastModifiedTime(path, FileTime.from(Instant.now()));
        WatchedFile<Said> file = watch();
        write(path, "two");
        file.refresh();

        assertThat(file.value().text()).isEqualTo("two");
    }

    @Test
    void aFileThatWasReplacedIsReadAgainThoughItsTimeAndSizeAreTheSame() throws Exception {
        WatchedFile<Said> file = watch();
        Path other = directory.resolve("other");
        write(other, "two");
        Files.move(other, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        file.refresh();

        assertThat(file.value().text()).isEqualTo("two");
    }

    /** How container platforms change mounted secrets. */
    @Test
    void aLinkThatLeadsElsewhereIsFollowed() throws Exception {
        Path first = Files.createDirectory(directory.resolve("v1"));
        Path second = Files.createDirectory(directory.resolve("v2"));
        write(first.resolve("users"), "one");
        write(second.resolve("users"), "two");
        Path data = Files.createSymbolicLink(directory.resolve("..data"), first);
        path = Files.createSymbolicLink(directory.resolve("users"), data.resolve("users"));
        WatchedFile<Said> file = watch();
        Path swap = Files.createSymbolicLink(directory.resolve("swap"), second);
        Files.move(swap, data, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        file.refresh();

        assertThat(file.value().text()).isEqualTo("two");
    }

    @Test
    void whatWasReadBeforeHoldsOnWhileTheFileCannotBeReadWhichIsSaid() throws Exception {
        WatchedFile<Said> file = watch();
        assertThat(file.problems()).isEmpty();

        Files.write(path, new byte[] {'x', (byte) 0xff});
        file.refresh();
        file.refresh();
        assertThat(file.value().text()).isEqualTo("one");
        assertThat(file.problems()).containsExactly(path + " is not UTF-8; keeping the previous contents");

        Files.delete(path);
        file.refresh();
        assertThat(file.value().text()).isEqualTo("one");
        assertThat(file.problems()).containsExactly("there is no file " + path + "; keeping the previous contents");

        write(path, "three");
        file.refresh();
        assertThat(file.value().text()).isEqualTo("three");
        assertThat(file.problems()).isEmpty();

        Files.write(path, new byte[] {'x', (byte) 0xff});
        file.refresh();
        write(path, "three");
        file.refresh();
        assertThat(file.problems()).isEmpty();
    }

    @Test
    void aFileWithAWrongLineIsReadAndTheLineIsSaid() throws Exception {
        WatchedFile<Said> file = watch();
        Files.writeString(path, "broken");
        file.refresh();
        assertThat(file.value().text()).isEqualTo("broken");
        assertThat(file.problems()).containsExactly(path + ":1: broken");
    }

    @Test
    void aFileThatCannotBeReadFromTheStartIsAnError() throws Exception {
        Files.delete(path);
        assertThatThrownBy(this::watch).hasMessage("there is no file " + path);

        byte[] large = new byte[(16 << 20) + 1];
        Arrays.fill(large, (byte) 'x');
        Files.write(path, large);
        assertThatThrownBy(this::watch).hasMessage(path + " is larger than 16 MiB");
    }
}
