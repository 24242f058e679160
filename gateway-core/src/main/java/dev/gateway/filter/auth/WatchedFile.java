package dev.gateway.filter.auth;

import dev.gateway.files.FileFault;
import dev.gateway.files.InputFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that is read again when it has changed: written to, replaced, or led elsewhere by a symbolic link. If what it
 * says then is wrong, what it said before holds on. One thread at a time refreshes; any thread reads.
 */
final class WatchedFile<T> {
    private static final Logger LOG = LoggerFactory.getLogger(WatchedFile.class);
    private static final int MAX_BYTES = 16 << 20;

    /** A file may be written twice within the resolution of its time; one this young is looked into once more. */
    private static final long SETTLED_MILLIS = 2000;

    private final Path path;
    private final Parser<T> parser;
    private volatile T value;
    private @Nullable Stamp stamp;
    private byte[] content = {};
    private String warned = "";

    /** Makes sense of a file. */
    interface Parser<T> {
        T parse(Path file, String text) throws AuthFileException;
    }

    private record Stamp(@Nullable Object inode, long size, FileTime modified, boolean settled) {
        static Stamp of(Path path) throws IOException {
            BasicFileAttributes attributes;
            try {
                attributes = Files.readAttributes(path, BasicFileAttributes.class);
            } catch (IOException e) {
                throw FileFault.reading(path, e);
            }
            FileTime modified = attributes.lastModifiedTime();
            long age = System.currentTimeMillis() - modified.toMillis();
            return new Stamp(attributes.fileKey(), attributes.size(), modified, age > SETTLED_MILLIS);
        }
    }

    /** Reads the file for the first time, when wrong content is an error. */
    WatchedFile(Path path, Parser<T> parser) throws AuthFileException {
        this.path = path;
        this.parser = parser;
        try {
            Stamp before = Stamp.of(path);
            content = read();
            value = parse(content);
            stamp = before;
        } catch (IOException e) {
            throw new AuthFileException(e);
        }
    }

    /** Returns what the file said when it was last right. */
    T value() {
        return value;
    }

    /** Looks whether the file has changed. Blocks; not for event loops. */
    void refresh() {
        try {
            Stamp now = Stamp.of(path);
            if (now.equals(stamp) && now.settled) {
                return;
            }
            byte[] bytes = read();
            // Taken before reading: what is written meanwhile makes for another stamp.
            stamp = now;
            if (!Arrays.equals(bytes, content)) {
                content = bytes;
                value = parse(bytes);
                LOG.info("{} has changed and was read again", path);
            }
            warned = "";
        } catch (IOException e) {
            warn(String.valueOf(e.getMessage()));
        } catch (AuthFileException e) {
            warn(String.valueOf(e.getMessage()));
        }
    }

    private void warn(String problem) {
        if (!problem.equals(warned)) {
            warned = problem;
            LOG.warn("{}; what was read before holds on", problem);
        }
    }

    private byte[] read() throws IOException, AuthFileException {
        if (InputFile.size(path) > MAX_BYTES) {
            throw new AuthFileException(path, "more than 16 MiB");
        }
        return InputFile.bytes(path);
    }

    private T parse(byte[] bytes) throws AuthFileException {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return parser.parse(path, text.startsWith("\ufeff") ? text.substring(1) : text);
        } catch (CharacterCodingException e) {
            throw new AuthFileException(path, "not UTF-8");
        }
    }
}
