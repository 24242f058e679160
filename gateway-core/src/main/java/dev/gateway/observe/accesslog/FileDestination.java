package dev.gateway.observe.accesslog;

import dev.gateway.config.observe.AccessLogConfig.Rotation;
import dev.gateway.config.value.Position;
import dev.gateway.files.FileFault;
import dev.gateway.files.FilePermissions;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.ByteChannel;
import java.nio.channels.Channels;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.time.Duration;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A file that lines are appended to, put aside when it is too large or too old: FILE.1 is the youngest of those. */
final class FileDestination implements LogDestination {
    /** The file grows. */
    private static final Rotation NONE = new Rotation(Position.NOWHERE, 0, 0, Duration.ZERO);

    private static final Logger log = LoggerFactory.getLogger(FileDestination.class);

    private static final int FILE_TYPE = 0170000; // of a mode, as stat(2) has it
    private static final int PIPE = 0010000;

    private static final FileAttribute<?>[] PERMISSIONS = FilePermissions.of("rw-r-----");

    private final Path file;
    private final Rotation rotation;
    private final long maxAgeNanos;
    private final LongSupplier nanoClock;
    private OutputStream out;
    private long bytes;
    private long begunNanos;
    private long rotatesAtBytes; // more than the limit after a rotation has failed

    FileDestination(Path file, @Nullable Rotation rotation, LongSupplier nanoClock) throws IOException {
        this.file = file;
        this.rotation = rotation == null ? NONE : rotation;
        this.maxAgeNanos = this.rotation.maxAge().toNanos();
        this.nanoClock = nanoClock;
        this.out = open();
        begin();
    }

    private OutputStream open() throws IOException {
        try {
            return Channels.newOutputStream(isPipe() ? openPipe() : openFile());
        } catch (IOException e) {
            throw FileFault.writing(file, e);
        }
    }

    private boolean isPipe() throws IOException {
        return file.getFileSystem().supportedFileAttributeViews().contains("unix")
                && Files.exists(file)
                && ((int) Files.getAttribute(file, "unix:mode") & FILE_TYPE) == PIPE;
    }

    private ByteChannel openFile() throws IOException {
        Set<StandardOpenOption> options = Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        // Not for everybody on this machine: there are addresses, paths and names of users in it.
        return Files.newByteChannel(file, options, PERMISSIONS);
    }

    /**
     * Who opens a pipe only to write waits until somebody reads it, which would hold up a start or a reload. This way no open
     * waits, and while nobody reads, only the writer's thread does.
     */
    private ByteChannel openPipe() throws IOException {
        try {
            return Files.newByteChannel(file, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
        } catch (AccessDeniedException e) { // it may be another user's, who lets us only write
            return openFile();
        }
    }

    private void begin() throws IOException {
        bytes = Files.size(file);
        begunNanos = nanoClock.getAsLong();
        rotatesAtBytes = rotation.maxSize();
    }

    @Override
    public int write(byte[] lines, int length) throws IOException {
        if (bytes > 0 && isDue(length)) {
            rotate();
        }
        out.write(lines, 0, length);
        bytes += length;
        return 0;
    }

    private boolean isDue(int more) {
        boolean large = rotation.maxSize() > 0 && bytes + more > rotatesAtBytes;
        return large || (maxAgeNanos > 0 && nanoClock.getAsLong() - begunNanos > maxAgeNanos);
    }

    private void rotate() {
        try {
            if (Files.exists(file)) { // somebody may have taken it away
                putAside();
            }
            reopen();
        } catch (IOException e) {
            rotatesAtBytes = bytes + rotation.maxSize(); // not again with every batch
            begunNanos = nanoClock.getAsLong();
            log.warn("Cannot rotate the access log, so its file grows: {}", e.toString());
        }
    }

    private void putAside() throws IOException {
        for (int i = rotation.maxFiles() - 1; i >= 1; i--) {
            if (Files.exists(aside(i))) {
                Files.move(aside(i), aside(i + 1), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        Files.move(file, aside(1), StandardCopyOption.REPLACE_EXISTING);
    }

    private Path aside(int number) {
        return file.resolveSibling(file.getFileName() + "." + number);
    }

    @Override
    public void reopen() throws IOException {
        OutputStream fresh = open();
        OutputStream former = out;
        out = fresh;
        begin();
        former.close();
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
