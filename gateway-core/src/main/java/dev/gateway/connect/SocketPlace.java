package dev.gateway.connect;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * Socket identity. Where a Unix-domain socket is, and which file that is: links, mounts and {@code /proc} give a file other
 * paths. Asking which one takes the same way as connecting to it, through the same directories, so an event loop that connects
 * may also ask. Immutable.
 *
 * @param path absolute
 * @param key the device and the inode, null if there is no such file, or the system has no such numbers
 */
record SocketPlace(Path path, @Nullable Object key) {
    /** Looks at a file. */
    static SocketPlace of(Path file) {
        return new SocketPlace(file.toAbsolutePath().normalize(), key(file));
    }

    private static @Nullable Object key(Path file) {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        } catch (IOException e) {
            return null; // connecting to it will say why
        }
    }

    /** Whether both are the same socket, by whatever path. A socket that listens keeps its inode, so no other file gets it. */
    boolean isSame(SocketPlace other) {
        return path.equals(other.path) || (key != null && key.equals(other.key));
    }
}
