package dev.gateway.listener;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of a Unix-domain socket. It remains if the process is killed, and another process may take it over. The socket
 * is bound under another name, which is then renamed. So there is always a file, and closing a socket, which removes the
 * name that it was bound to, does not remove a successor's file. Used at start and stop only.
 */
final class SocketFile {
    private static final Logger log = LoggerFactory.getLogger(SocketFile.class);

    private final Path path;
    private final Path bound;
    private final boolean takeOver;
    private @Nullable Object key; // identifies our file, once it has its final name

    private SocketFile(Path path, Path bound, boolean takeOver) {
        this.path = path;
        this.bound = bound;
        this.takeOver = takeOver;
    }

    /**
     * Prepares a file: removes a stale one.
     *
     * @param takeOver whether another process may listen on the file; this process gets its clients from {@link #publish}
     *     on
     * @throws BindException if another process listens on the file and must not, or if it is no socket
     * @throws IOException if a stale file cannot be removed
     */
    static SocketFile prepare(Path path, boolean takeOver) throws IOException {
        boolean exists = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        if (exists && !Files.readAttributes(path, BasicFileAttributes.class).isOther()) {
            throw new BindException("the file exists and is not a socket");
        }
        if (exists && !takeOver) {
            removeStale(path);
        }
        // Random, because processes in containers may share PID and directory; short, because such paths must be short.
        String name = "." + Integer.toString(new SecureRandom().nextInt(Integer.MAX_VALUE), Character.MAX_RADIX);
        return new SocketFile(path, path.resolveSibling(name), takeOver);
    }

    private static void removeStale(Path path) throws IOException {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            probe.connect(UnixDomainSocketAddress.of(path));
        } catch (ConnectException refused) {
            Files.delete(path); // no process listens on it
            return;
        } catch (IOException e) {
            if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                return; // another process has just removed it
            }
            BindException unknown =
                    new BindException("cannot find out whether another process listens on it (" + e.getMessage() + ")");
            unknown.initCause(e);
            throw unknown;
        }
        throw taken();
    }

    private static BindException taken() {
        return new BindException("another process listens on it");
    }

    /** Returns the name to bind. */
    Path bound() {
        return bound;
    }

    /**
     * Gives the file its final name, unless another process may have it until {@link #publish}. Called when it is bound.
     *
     * @throws IOException if another process was faster
     */
    void claim() throws IOException {
        if (!takeOver) {
            try {
                Files.move(bound, path);
            } catch (FileAlreadyExistsException e) {
                throw taken();
            }
            key = key(path);
        }
    }

    /** Takes the file over from another process, so that clients reach this one. */
    void publish() {
        if (takeOver) {
            try {
                Files.move(bound, path, StandardCopyOption.ATOMIC_MOVE);
                key = key(path);
            } catch (IOException e) {
                log.error("Cannot take over the socket file {}: {}", path, e.toString());
            }
        }
    }

    /** Removes the file, unless it is now another process's file. */
    void remove() {
        try {
            if (key == null) {
                Files.deleteIfExists(bound);
            } else if (Files.exists(path, LinkOption.NOFOLLOW_LINKS) && key.equals(key(path))) {
                Files.delete(path);
            }
        } catch (IOException e) {
            log.warn("Cannot remove the socket file {}: {}", path, e.toString());
        }
    }

    private static @Nullable Object key(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .fileKey();
    }
}
