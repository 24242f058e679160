package dev.gateway.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class FileGlobTest {
    @TempDir
    Path directory;

    @BeforeEach
    void write() throws IOException {
        for (String name :
                List.of("b.yaml", "a.yaml", "a1.yaml", "B.yaml", ".c.yaml", "..data", "a.yml", "a\\E.yaml")) {
            Files.writeString(directory.resolve(name), "");
        }
    }

    private List<String> names(String pattern) throws FileFault {
        return new FileGlob(directory, pattern)
                .files().stream().map(each -> each.getFileName().toString()).toList();
    }

    @Test
    void filesAreFoundByName() throws FileFault {
        assertThat(names("*.yaml")).containsExactly("B.yaml", "a.yaml", "a1.yaml", "a\\E.yaml", "b.yaml");
        assertThat(names("a?.yaml")).containsExactly("a1.yaml");
        assertThat(names("?.y*")).containsExactly("B.yaml", "a.yaml", "a.yml", "b.yaml");
        assertThat(names("a\\E*")).containsExactly("a\\E.yaml");
        assertThat(names("a*yaml*")).containsExactly("a.yaml", "a1.yaml", "a\\E.yaml");
        assertThat(names("a.yaml")).containsExactly("a.yaml");
        assertThat(names("axyaml")).as("a dot is a dot").isEmpty();
    }

    @Test
    void namesThatBeginWithADotAreNeverMeant() throws FileFault {
        assertThat(names("*")).noneMatch(name -> name.startsWith("."));
        assertThat(names(".*")).isEmpty();
    }

    @Test
    void aDirectoryThatIsNoneIsNamed() throws IOException {
        assertThatThrownBy(() -> new FileGlob(directory.resolve("no"), "*").files())
                .hasMessage("there is no directory " + directory.resolve("no"));
        assertThatThrownBy(() -> new FileGlob(directory.resolve("a.yaml"), "*").files())
                .hasMessage(directory.resolve("a.yaml") + " is a file, not a directory");
        Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("nothing"));
        assertThatThrownBy(() -> new FileGlob(link, "*").files())
                .hasMessage(link + " is a symbolic link to nothing, which does not exist");
    }

    @Test
    void itIsSaidWhyADirectoryCannotBeRead() {
        assertThat(FileFault.listing(
                        directory, new FileSystemException(directory.toString(), null, "Too many open files")))
                .hasMessage("cannot read " + directory + ": too many files are open (ulimit -n)")
                .returns(true, FileFault::mayPass);
        assertThat(FileFault.listing(directory, new AccessDeniedException(directory.toString())))
                .hasMessageStartingWith("no permission to read " + directory)
                .returns(false, FileFault::mayPass);
    }
}
