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
 * The file of a Unix-domain socket, which outlives a process that was killed, and which another process may take over.
 * It is bound elsewhere and renamed: so there is no moment without one, and closing the socket, which removes what it was
 * bound to, leaves a successor's file alone. Start and stop only.
 */
final class SocketFile {
    private static final Logger log = LoggerFactory.getLogger(SocketFile.class);

    private final Path path;
    private final Path bound;
    private final boolean takeOver;
    private @Nullable Object key; // of the file that is ours, once it has its name

    private SocketFile(Path path, Path bound, boolean takeOver) {
        this.path = path;
        this.bound = bound;
        this.takeOver = takeOver;
    }

    /**
     * Makes room for a file.
     *
     * @param takeOver whether somebody may listen on it, whose clients this process gets from {@link #publish} on
     * @throws BindException if somebody listens on it who should not or may, or it is no socket
     * @throws IOException if a stale one cannot be removed
     */
    static SocketFile prepare(Path path, boolean takeOver) throws IOException {
        boolean exists = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        if (exists && !Files.readAttributes(path, BasicFileAttributes.class).isOther()) {
            throw new BindException("the file exists and is not a socket");
        }
        if (exists && !takeOver) {
            removeStale(path);
        }
        // Random, because processes in containers may share number and directory; short, because such paths must be.
        String name = "." + Integer.toString(new SecureRandom().nextInt(Integer.MAX_VALUE), Character.MAX_RADIX);
        return new SocketFile(path, path.resolveSibling(name), takeOver);
    }

    private static void removeStale(Path path) throws IOException {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            probe.connect(UnixDomainSocketAddress.of(path));
        } catch (ConnectException refused) {
            Files.delete(path); // nobody listens
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

    /** Returns where to bind. */
    Path bound() {
        return bound;
    }

    /**
     * Gives the file its name, unless another process may have it until {@link #publish}. To be called when it is bound.
     *
     * @throws IOException if another process has been quicker
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

    /** Lets clients come. */
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

    /** Removes the file, unless it is somebody else's by now. */
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
