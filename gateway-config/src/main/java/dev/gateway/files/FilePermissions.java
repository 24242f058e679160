package dev.gateway.files;

import java.nio.file.FileSystems;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/** Permissions of files and directories that the gateway creates. Systems without POSIX permissions have none. */
public final class FilePermissions {
    /** Whether files have owners and permissions as POSIX describes them. */
    public static final boolean POSIX =
            FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

    private FilePermissions() {}

    /**
     * Returns permissions as attributes for the creation of a file, so that nobody can open it before they are set.
     *
     * @param text such as {@code rw-------}
     */
    public static FileAttribute<?>[] of(String text) {
        return POSIX
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(text))}
                : new FileAttribute<?>[0];
    }
}
