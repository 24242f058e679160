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
     * Returns the attributes with which a file is created. It has its permissions from the start, so no other user can open
     * it in between. Empty on a system without POSIX permissions.
     *
     * @param text such as {@code rw-------}
     */
    public static FileAttribute<?>[] of(String text) {
        return POSIX
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(text))}
                : new FileAttribute<?>[0];
    }
}
