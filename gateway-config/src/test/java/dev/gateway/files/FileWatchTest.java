package dev.gateway.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("NullAway.Init") // fields that JUnit and the first method set
class FileWatchTest {
    @TempDir
    Path directory;

    private Path file;
    private FileWatch watch;

    @BeforeEach
    void watch() throws IOException {
        file = Files.writeString(directory.resolve("gateway.yaml"), "first");
        watch = new FileWatch(List.of(file));
    }

    private void assertNoticed() {
        assertThat(watch.hasChanged()).isTrue();
        assertThat(watch.hasSettled()).as("may still be written").isFalse();
        assertThat(watch.hasSettled()).isTrue();
        watch.reading();
        assertThat(watch.hasChanged()).isFalse();
        assertThat(watch.hasSettled()).isFalse();
        assertThat(watch.hasSettled()).isFalse();
    }

    @Test
    void aFileThatStaysIsNoNews() {
        assertThat(watch.hasChanged()).isFalse();
        assertThat(watch.hasSettled()).isFalse();
        assertThat(watch.hasSettled()).isFalse();
    }

    @Test
    void aFileThatChangesAtEachLookIsReadAllTheSame() throws IOException {
        for (int turn = 0; turn < 3; turn++) {
            for (int look = 1; look < 5; look++) {
                Files.writeString(file, "x".repeat(10 * turn + look));
                assertThat(watch.hasSettled()).as("look %s", look).isFalse();
            }
            Files.writeString(file, "x".repeat(10 * turn + 9));
            assertThat(watch.hasSettled()).isTrue();
            watch.reading();
        }
    }

    /** Such as by chmod, which does not change what is compared. */
    @Test
    void aFileThatCouldNotBeReadIsReadAgainAfterAWhile() {
        for (int turn = 0; turn < 2; turn++) {
            watch.unread();
            for (int look = 1; look < 5; look++) {
                assertThat(watch.hasSettled()).isFalse();
            }
            assertThat(watch.hasSettled()).isTrue();
            watch.reading();
        }
        for (int look = 0; look < 10; look++) {
            assertThat(watch.hasSettled()).as("it has been read").isFalse();
        }
    }

    @Test
    void aFileWrittenInPlaceIsNoticed() throws IOException {
        Files.writeString(file, "another length");
        assertNoticed();
    }

    @Test
    void aFileWrittenInPlaceWithTheSameLengthIsNoticedByItsTime() throws IOException {
        Files.writeString(file, "other");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L));
        assertNoticed();
    }

    @Test
    void aFileRenamedOverItIsNoticed() throws IOException {
        Path fresh = Files.writeString(directory.resolve(".gateway.yaml.swp"), "other");
        Files.setLastModifiedTime(fresh, Files.getLastModifiedTime(file));
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        assertNoticed();
    }

    /** As Kubernetes updates a mounted ConfigMap or Secret: the file and its directory are symbolic links. */
    @Test
    void aDirectorySwappedByASymbolicLinkIsNoticed() throws IOException {
        Path mount = Files.createDirectory(directory.resolve("mount"));
        Path one = Files.createDirectory(mount.resolve("..2026_01"));
        Path two = Files.createDirectory(mount.resolve("..2026_02"));
        Files.writeString(one.resolve("tls.crt"), "one");
        Files.writeString(two.resolve("tls.crt"), "two");
        Files.setLastModifiedTime(two.resolve("tls.crt"), Files.getLastModifiedTime(one.resolve("tls.crt")));
        Files.createSymbolicLink(mount.resolve("..data"), Path.of("..2026_01"));
        Path mounted = Files.createSymbolicLink(mount.resolve("tls.crt"), Path.of("..data/tls.crt"));
        watch = new FileWatch(List.of(mounted));

        Path link = Files.createSymbolicLink(mount.resolve("..data_tmp"), Path.of("..2026_02"));
        Files.move(link, mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        assertNoticed();
    }

    @Test
    void aFileThatGoesIsNoticedAndThatItComesBack() throws IOException {
        Files.delete(file);
        assertNoticed();
        Files.writeString(file, "back");
        assertNoticed();
    }

    @Test
    void aFileThatIsStillWrittenHasNotSettled() throws IOException {
        for (int i = 1; i < 5; i++) {
            Files.writeString(file, "x".repeat(i * 10));
            assertThat(watch.hasSettled()).isFalse();
        }
        assertThat(watch.hasSettled()).isTrue();
    }

    @Test
    void aFileThatWasWrittenJustNowMayStillBeWritten() throws IOException {
        assertThat(watch.isBeingWritten()).as("it is as it was read").isFalse();
        Files.writeString(file, "half a");
        assertThat(watch.isBeingWritten()).isTrue();
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L));
        assertThat(watch.isBeingWritten()).isFalse();
        Files.delete(file);
        assertThat(watch.isBeingWritten()).isFalse();
    }

    @Test
    void aChangeThatIsTakenBackIsNone() throws IOException {
        FileTime before = Files.getLastModifiedTime(file);
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L));
        assertThat(watch.hasSettled()).isFalse();
        Files.setLastModifiedTime(file, before);
        assertThat(watch.hasSettled()).isFalse();
        assertThat(watch.hasSettled()).isFalse();
    }

    @Test
    void anyOfSeveralFilesCounts() throws IOException {
        Path other = Files.writeString(directory.resolve("tls.key"), "key");
        watch = new FileWatch(List.of(file, other));
        Files.writeString(other, "another key");
        assertNoticed();
    }

    @Test
    void whichFilesAPatternStandsForIsWatched() throws IOException {
        watch = new FileWatch(List.of());
        assertThat(watch.isEmpty()).isTrue();
        assertThat(watch.add(new FileGlob(directory, "*.yaml"))).containsExactly(file);
        assertThat(watch.isEmpty()).isFalse();
        assertThat(watch.changed()).isEmpty();
        Path added = Files.writeString(directory.resolve("more.yaml"), "more");
        assertNoticed();
        Files.writeString(added, "changed");
        assertThat(watch.hasSettled()).isFalse();
        assertThat(watch.changed()).containsExactly(added);
        watch.reading();
        Files.delete(added);
        Files.writeString(file, "changed as well");
        assertThat(watch.hasSettled()).isFalse();
        assertThat(watch.changed()).containsExactly(file, added);
        assertThat(watch.hasSettled()).isTrue();
        watch.reading();
        Files.writeString(directory.resolve(".more.yaml"), "hidden");
        Files.writeString(directory.resolve("more.txt"), "another name");
        assertThat(watch.hasChanged()).isFalse();
    }

    @Test
    void aDirectoryThatComesIsNoticed() throws IOException {
        watch = new FileWatch(List.of());
        Path later = directory.resolve("later");
        assertThatThrownBy(() -> watch.add(new FileGlob(later, "*.yaml"))).isInstanceOf(FileFault.class);
        assertThat(watch.hasChanged()).isFalse();
        Files.createDirectory(later);
        assertNoticed();
        Files.writeString(later.resolve("a.yaml"), "first");
        assertNoticed();
    }

    @Test
    void aFileIsWatchedFromTheMomentItIsAdded() throws IOException {
        watch = new FileWatch(List.of());
        Files.writeString(file, "changed before");
        watch.add(file);
        assertThat(watch.hasChanged()).isFalse();
        Files.writeString(file, "changed after that");
        assertNoticed();
    }

    @Test
    void aPathMayBeWatchedAsAFileAndAsADirectory() throws IOException {
        watch = new FileWatch(List.of());
        watch.add(file);
        assertThatThrownBy(() -> watch.add(new FileGlob(file, "*.yaml"))).isInstanceOf(FileFault.class);
        assertThat(watch.hasChanged()).isFalse();
        Files.writeString(file, "changed");
        assertNoticed();
        Files.delete(file);
        Files.createDirectory(file);
        assertNoticed();
    }

    @Test
    void whatIsInADirectoryIsNoChangeOfIt() throws IOException {
        watch = new FileWatch(List.of());
        Path place = Files.createDirectory(directory.resolve("place"));
        watch.addDirectory(place);
        assertThat(watch.isEmpty()).isFalse();
        Path inside = Files.writeString(place.resolve("a.yaml"), "a");
        Files.setLastModifiedTime(place, FileTime.fromMillis(1_700_000_000_000L));
        assertThat(watch.hasChanged()).isFalse();
        Files.delete(inside);
        Files.delete(place);
        assertNoticed();
    }

    @Test
    void aFileOfAPatternThatGoesBeforeItIsReadIsNoticed() throws IOException {
        watch = new FileWatch(List.of());
        watch.add(new FileGlob(directory, "*.yaml"));
        Files.delete(file);
        watch.add(file);
        assertNoticed();
    }

    /** Who reads it empties it, so it must not be read again by itself. */
    @Test
    void thatSomebodyWritesToAPipeIsNoChange() throws Exception {
        Path pipe = directory.resolve("pipe");
        run("mkfifo", pipe.toString());
        watch = new FileWatch(List.of(pipe));
        run("touch", "-d", "2001-01-01", pipe.toString()); // Java would open it, and wait for a writer
        assertThat(watch.hasChanged()).isFalse();
        Files.delete(pipe);
        assertNoticed();
    }

    private static void run(String... command) throws Exception {
        assertThat(new ProcessBuilder(command).start().waitFor()).isZero();
    }

    @Test
    void filesOfAPatternThatAreTooManyAreNotLookedAt() throws IOException {
        for (int i = 0; i < FileGlob.MOST_FILES; i++) {
            Files.writeString(directory.resolve(i + ".yaml"), "");
        }
        FileGlob glob = new FileGlob(directory, "*.yaml");
        watch = new FileWatch(List.of());
        assertThatThrownBy(() -> watch.add(glob)).hasMessage("more than 1000 files match " + glob);
        Files.writeString(file, "changed");
        assertThat(watch.hasChanged()).isFalse();
        Files.delete(file);
        assertNoticed();
    }
}
