package dev.gateway.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What whoever runs the gateway is told of a file that cannot be used. */
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class FileFaultTest {
    @TempDir
    Path directory;

    private static void assertReading(Path file, String message) {
        assertThatThrownBy(() -> InputFile.bytes(file))
                .isInstanceOf(FileFault.class)
                .hasMessage(message);
    }

    private static String writing(Path file) {
        try (var out = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            return "it can be written: " + out;
        } catch (IOException e) {
            return String.valueOf(FileFault.writing(file, e).getMessage());
        }
    }

    @Test
    void aFileThatIsNotThere() {
        Path file = directory.resolve("a.pem");
        assertReading(file, "there is no file " + file);
    }

    @Test
    void aDirectoryThatIsNotThere() {
        Path file = directory.resolve("none/below/a.pem");
        assertReading(file, "there is no file " + file + ": there is no directory " + file.getParent());
        assertThat(writing(file)).isEqualTo("cannot write " + file + ": there is no directory " + file.getParent());
    }

    @Test
    void aLinkToNothing() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("a.pem"), Path.of("gone.pem"));
        assertReading(link, link + " is a symbolic link to gone.pem, which does not exist");
        Path data = Files.createSymbolicLink(directory.resolve("..data"), Path.of("..2026"));
        assertReading(data.resolve("a.pem"), data + " is a symbolic link to ..2026, which does not exist");
    }

    @Test
    void aDeviceWithoutAnEnd() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("deny"), Path.of("/dev/zero"));
        assertReading(link, link + " is a pipe, a socket or a device, not a file");
    }

    @Test
    void aFileThatIsLargerThanAnyShouldBe() throws IOException {
        Path file = directory.resolve("a.pem");
        try (var sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength((32 << 20) + 1);
        }
        assertReading(file, file + " is larger than 32 MiB");
    }

    @Test
    void aDirectoryWhereAFileIsWanted() {
        assertReading(directory, directory + " is a directory, not a file");
        assertThat(writing(directory)).isEqualTo(directory + " is a directory, not a file");
    }

    @Test
    void aFileWhereADirectoryIsWanted() throws IOException {
        Path file = Files.createFile(directory.resolve("tls"));
        Path below = file.resolve("a.pem");
        assertReading(below, "there is no file " + below + ": " + file + " is a file, not a directory");
        assertThat(writing(below)).isEqualTo("cannot write " + below + ": " + file + " is a file, not a directory");
    }

    @Test
    void noPermissionToReadAFile() throws IOException {
        Path file = Files.createFile(
                directory.resolve("a.key"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("-w-------")));
        assertThat(FileFault.reading(file, new AccessDeniedException(file.toString())))
                .hasMessageStartingWith("no permission to read " + file + ", which belongs to ")
                .hasMessageEndingWith(
                        " and has mode -w-------; the gateway runs as user " + System.getProperty("user.name"));
    }

    @Test
    void noPermissionToMakeAFile() {
        Path file = directory.resolve("access.log");
        assertThat(FileFault.writing(file, new AccessDeniedException(file.toString())))
                .hasMessageStartingWith("no permission to make " + file + " in " + directory + ", which belongs to ");
    }

    @Test
    void noPermissionToReplaceAFile() throws IOException {
        Path file = Files.createFile(directory.resolve("state.json"));
        AccessDeniedException cause = new AccessDeniedException(file.toString());
        assertThat(FileFault.replacing(file, cause))
                .hasMessageStartingWith("no permission to replace " + file + " in " + directory + ", which belongs to ")
                .hasMessageEndingWith("; the gateway runs as user " + System.getProperty("user.name"));
        Files.delete(file);
        assertThat(FileFault.replacing(file, cause)).hasMessageStartingWith("no permission to make " + file + " in ");
    }

    @Test
    void theKernelsOtherReasons() {
        Path file = directory.resolve("access.log");
        assertThat(FileFault.writing(file, new FileSystemException(file.toString(), null, "Read-only file system")))
                .hasMessage("cannot write " + file + ": its file system is read-only");
        assertThat(FileFault.reading(file, new FileSystemException(file.toString(), null, "Too many open files")))
                .hasMessage("cannot read " + file + ": too many files are open (ulimit -n)");
        assertThat(FileFault.reading(file, new IOException("Input/output error")))
                .hasMessage("cannot read " + file + ": Input/output error");
    }

    @Test
    void aTextOfAnotherEncoding() throws IOException {
        Path file = Files.write(directory.resolve("users"), new byte[] {(byte) 0xff});
        assertThatThrownBy(() -> InputFile.text(file, StandardCharsets.UTF_8)).hasMessage(file + " is not UTF-8");
    }

    @Test
    void anExceptionThatIsOnlyAPath() {
        Path file = directory.resolve("none");
        assertThat(FileFault.message(new NoSuchFileException(file.toString()))).isEqualTo("there is no file " + file);
        assertThat(FileFault.message(new IOException("anything else"))).isEqualTo("anything else");
    }
}
