package dev.gateway.filter.auth;

import dev.gateway.files.FileFault;
import dev.gateway.files.FileStamp;
import dev.gateway.files.InputFile;
import dev.gateway.filter.auth.Accounts.Content;
import dev.gateway.format.AccountFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that is read again when it has changed: written to, replaced, or led elsewhere by a symbolic link. If it cannot be
 * read then, what it said before holds on; lines that are wrong are left out. One thread at a time refreshes; any thread
 * reads.
 */
final class WatchedFile<T extends Content> {
    private static final Logger log = LoggerFactory.getLogger(WatchedFile.class);
    private static final long MAX_BYTES = (long) AccountFile.MAX_MEBIBYTES << 20;
    private static final long WARNS_EACH_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Path path;
    private final Parser<T> parser;
    private volatile T value;
    private @Nullable Look look;
    private byte[] content = {};
    private volatile String stale = ""; // why the previous contents stay in use
    private String warned = "";
    private long warnedNanos;

    /** Makes sense of a file. */
    interface Parser<T> {
        T parse(Path file, String text) throws AuthFileException;
    }

    /** What the file looked like before it was read; unless that is sure, it may have been written since and look the same. */
    private record Look(FileStamp stamp, boolean sure) {
        static Look at(Path path) throws FileFault {
            FileStamp stamp = FileStamp.of(path);
            return new Look(stamp, !stamp.isYoung());
        }
    }

    /** Reads the file for the first time, when wrong content is an error. */
    WatchedFile(Path path, Parser<T> parser) throws AuthFileException {
        this.path = path;
        this.parser = parser;
        try {
            Look before = Look.at(path);
            content = read();
            value = parse(content);
            look = before;
        } catch (FileFault e) {
            throw new AuthFileException(e);
        }
    }

    /** Returns what the file said when it was last right. */
    T value() {
        return value;
    }

    /** Returns what is wrong with the file: why it is not read, or what is left out, a line each. */
    List<String> problems() {
        String why = stale;
        return why.isEmpty() ? value.faults() : List.of(why + "; keeping the previous contents");
    }

    /** Looks whether the file has changed. Blocks; not for event loops. */
    void refresh() {
        try {
            Look now = Look.at(path);
            if (now.equals(look) && now.sure && stale.isEmpty()) {
                warn();
                return;
            }
            byte[] bytes = read();
            // From before reading: what is written meanwhile makes for another stamp.
            look = now;
            if (!Arrays.equals(bytes, content)) {
                value = parse(bytes);
                content = bytes;
                log.info("{} has changed and was read again", path);
            }
            stale = "";
        } catch (FileFault | AuthFileException e) {
            stale = String.valueOf(e.getMessage());
        }
        warn();
    }

    /** Says what is wrong as soon as it is, and again each minute for as long as it lasts. */
    private void warn() {
        List<String> problems = problems();
        String problem = problems.isEmpty() ? "" : problems.get(0);
        long now = System.nanoTime();
        if (!problem.isEmpty() && (!problem.equals(warned) || now - warnedNanos > WARNS_EACH_NANOS)) {
            warnedNanos = now;
            String more = problems.size() == 1 ? "" : ", and " + (problems.size() - 1) + " more lines are wrong";
            log.warn("{}{}", problem, more);
        }
        warned = problem;
    }

    private byte[] read() throws FileFault {
        return InputFile.bytes(path, MAX_BYTES);
    }

    private T parse(byte[] bytes) throws FileFault, AuthFileException {
        return parser.parse(path, InputFile.decode(path, bytes, StandardCharsets.UTF_8));
    }
}
