package dev.gateway.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Optional;

/**
 * File identity and modification time. What a file looks like from outside: another one if the file was written in place,
 * another file was renamed over it, or a symbolic link leads elsewhere, in whichever directory of its path.
 *
 * @param real the file that links lead to
 * @param inode the file's identity, empty where the platform has none
 */
public record FileStamp(Path real, Optional<Object> inode, long size, FileTime modified) {
    private static final long YOUNG_MILLIS = 2000;
    private static final FileTime NEVER = FileTime.fromMillis(0);

    /**
     * Looks at a file.
     *
     * @throws FileFault if it cannot be looked at
     */
    public static FileStamp of(Path file) throws FileFault {
        try {
            Path real = file.toRealPath();
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            if (attributes.isOther()) { // a pipe also changes when somebody writes what is to be read from it
                return new FileStamp(real, Optional.ofNullable(attributes.fileKey()), 0, NEVER);
            }
            return new FileStamp(
                    real, Optional.ofNullable(attributes.fileKey()), attributes.size(), attributes.lastModifiedTime());
        } catch (IOException e) {
            throw FileFault.reading(file, e);
        }
    }

    /** Returns the part that only another place changes: what a directory looks like whose entries do not count. */
    FileStamp place() {
        return new FileStamp(real, Optional.empty(), 0, NEVER);
    }

    /**
     * Whether the file may be written once more and look the same: it was written a moment ago, as far as its time can tell,
     * or is from the future.
     */
    public boolean isYoung() {
        return System.currentTimeMillis() - modified.toMillis() <= YOUNG_MILLIS;
    }
}
