package dev.gateway.files;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * File pattern: the files of one directory whose names match. {@code *} stands for any characters and {@code ?} for one. A name
 * that begins with a dot never matches, such as {@code ..data} of a mounted ConfigMap, or what an editor keeps.
 */
public record FileGlob(Path directory, String pattern) {
    /** How many files a pattern may stand for. */
    public static final int MOST_FILES = 1000;

    /** Whether a name is a pattern. */
    public static boolean isPattern(String name) {
        return name.indexOf('*') >= 0 || name.indexOf('?') >= 0;
    }

    /**
     * Returns the files, by name.
     *
     * @throws FileFault if the directory cannot be read, or has too many of them
     */
    public List<Path> files() throws FileFault {
        Pattern names = Pattern.compile("\\Q"
                + pattern.replace("\\E", "\\E\\\\E\\Q").replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q")
                + "\\E");
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                String name = String.valueOf(entry.getFileName());
                if (!name.startsWith(".") && names.matcher(name).matches()) {
                    if (files.size() == MOST_FILES) {
                        throw FileFault.tooMany(directory.resolve(pattern), MOST_FILES);
                    }
                    files.add(directory.resolve(name));
                }
            }
        } catch (NoSuchFileException | NotDirectoryException e) {
            throw FileFault.noDirectory(directory, e);
        } catch (IOException e) {
            throw FileFault.listing(directory, e);
        } catch (DirectoryIteratorException e) {
            throw FileFault.listing(directory, Objects.requireNonNull(e.getCause()));
        }
        files.sort(Comparator.comparing(Path::toString));
        return files;
    }

    @Override
    public String toString() {
        return directory.resolve(pattern).toString();
    }
}
