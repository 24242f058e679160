package dev.gateway.files;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * File watcher: polls files for changes since they were last read, and tells when a change is complete, that is, when no
 * writer changes them any more. Used by one thread at a time.
 */
public final class FileWatch {
    /** After this number of looks, a change counts as complete although the files still change. */
    private static final int MOST_UNSETTLED = 5;

    /** Files that could not be read are to be read again after this number of looks. */
    private static final int LOOKS_UNTIL_RETRY = 5;

    private final List<Path> files;
    private List<Optional<FileStamp>> read; // what the files looked like just before they were read
    private @Nullable List<Optional<FileStamp>> seen; // what they looked like at the last look, if that was different
    private int unsettled; // looks in a row that have found another change
    private int untilRetry; // looks until they are to be read again although they look the same, 0 for never

    /** Begins to watch; to be made before the files are read. */
    public FileWatch(Collection<Path> files) {
        this.files = List.copyOf(files);
        this.read = look();
    }

    List<Path> files() {
        return files;
    }

    /** The files are about to be read: what they look like now is no news any more. */
    public void reading() {
        read = look();
        seen = null;
        unsettled = untilRetry = 0;
    }

    /**
     * The files could not be read, for a reason that may pass without a change of them: permissions are mended, or there were
     * too many open files. So they are read again after a while.
     */
    public void unread() {
        untilRetry = LOOKS_UNTIL_RETRY;
    }

    /** Whether the files look different from when they were last read. */
    public boolean hasChanged() {
        return !look().equals(read);
    }

    /**
     * Whether the files look different from when they were last read, and one was written so lately that its writer may not
     * have finished.
     */
    public boolean isBeingWritten() {
        List<Optional<FileStamp>> now = look();
        return !now.equals(read) && now.stream().flatMap(Optional::stream).anyMatch(FileStamp::isYoung);
    }

    /**
     * Looks again.
     *
     * @return whether to read the files. They have changed, and not since the last look, so their writer has probably
     *     finished; or they have changed at each look for a while; or it is time to try again after {@link #unread}
     */
    public boolean hasSettled() {
        List<Optional<FileStamp>> now = look();
        boolean changed = !now.equals(read);
        unsettled = changed ? unsettled + 1 : 0;
        boolean settled = changed && (now.equals(seen) || unsettled >= MOST_UNSETTLED);
        seen = changed ? now : null;
        boolean retry = untilRetry > 0 && --untilRetry == 0;
        return settled || retry;
    }

    private List<Optional<FileStamp>> look() {
        List<Optional<FileStamp>> looks = new ArrayList<>(files.size());
        for (Path file : files) {
            looks.add(look(file));
        }
        return looks;
    }

    private static Optional<FileStamp> look(Path file) {
        try {
            return Optional.of(FileStamp.of(file));
        } catch (FileFault e) {
            return Optional.empty(); // missing, or not to be seen, which is the same to who would read it
        }
    }
}
