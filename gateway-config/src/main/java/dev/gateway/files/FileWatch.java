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
    private final List<Path> files;
    private List<Optional<FileStamp>> read; // what the files looked like just before they were read
    private @Nullable List<Optional<FileStamp>> seen; // what they looked like at the last look, if that was different

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
     * @return whether the files have changed, and not since the last look: their writer has probably finished
     */
    public boolean hasSettled() {
        List<Optional<FileStamp>> now = look();
        boolean settled = now.equals(seen);
        seen = now.equals(read) ? null : now;
        return settled && seen != null;
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
