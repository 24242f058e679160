package dev.gateway.files;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
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

    private final Set<Path> files;
    private final Set<Path> directories = new LinkedHashSet<>();
    private final Set<FileGlob> globs = new LinkedHashSet<>();
    private Looks read; // what the files looked like just before they were read
    private @Nullable Looks seen; // what they looked like at the last look, if that was different
    private int unsettled; // looks in a row that have found another change
    private int untilRetry; // looks until they are to be read again although they look the same, 0 for never

    /**
     * What there was at one time. A path may be watched both as a file and as a directory, and looks different then.
     *
     * @param directories only their places
     */
    private record Looks(Map<Path, Optional<FileStamp>> files, Map<Path, Optional<FileStamp>> directories) {
        Stream<Path> paths() {
            return Stream.concat(files.keySet().stream(), directories.keySet().stream());
        }

        Optional<FileStamp> ofFile(Path path) {
            return files.getOrDefault(path, Optional.empty());
        }

        Optional<FileStamp> ofDirectory(Path path) {
            return directories.getOrDefault(path, Optional.empty());
        }
    }

    /** Begins to watch; to be made before the files are read. */
    public FileWatch(Collection<Path> files) {
        this.files = new LinkedHashSet<>(files);
        this.read = look();
    }

    /** Begins to watch another file, which is about to be read. That a file of a pattern has gone meanwhile, is a change. */
    public void add(Path file) {
        files.add(file);
        read.files.merge(file, look(file), (before, now) -> now.isPresent() ? now : before);
    }

    /** Begins to watch whether there is a directory, but not what is in it. */
    public void addDirectory(Path directory) {
        directories.add(directory);
        read.directories.put(directory, lookAtDirectory(directory));
    }

    /**
     * Begins to watch which files a pattern stands for, and these files, which are about to be read.
     *
     * @return the files
     * @throws FileFault if the directory cannot be read, or has too many files; it is watched all the same
     */
    public List<Path> add(FileGlob glob) throws FileFault {
        globs.add(glob);
        addDirectory(glob.directory());
        List<Path> found = glob.files();
        found.forEach(file -> read.files.put(file, look(file)));
        return found;
    }

    /** Whether nothing is watched. */
    public boolean isEmpty() {
        return files.isEmpty() && directories.isEmpty();
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

    /** Returns the files and directories that exist and must not be read. What they look like stays when that changes. */
    public List<Path> forbidden() {
        return read.paths()
                .distinct()
                .filter(each -> Files.exists(each) && !Files.isReadable(each))
                .toList();
    }

    /** Whether the files look different from when they were last read. */
    public boolean hasChanged() {
        return !look().equals(read);
    }

    /** Returns the files that the last look has found changed, new or removed, in their order. */
    public List<Path> changed() {
        Looks now = seen == null ? read : seen;
        return Stream.concat(read.paths(), now.paths())
                .filter(each -> !read.ofFile(each).equals(now.ofFile(each))
                        || !read.ofDirectory(each).equals(now.ofDirectory(each)))
                .sorted()
                .distinct()
                .toList();
    }

    /**
     * Whether the files look different from when they were last read, and one was written so lately that its writer may not
     * have finished.
     */
    public boolean isBeingWritten() {
        Looks now = look();
        return !now.equals(read)
                && now.files.values().stream().flatMap(Optional::stream).anyMatch(FileStamp::isYoung);
    }

    /**
     * Looks again.
     *
     * @return whether to read the files. They have changed, and not since the last look, so their writer has probably
     *     finished; or they have changed at each look for a while; or it is time to try again after {@link #unread}
     */
    public boolean hasSettled() {
        Looks now = look();
        boolean changed = !now.equals(read);
        unsettled = changed ? unsettled + 1 : 0;
        boolean settled = changed && (now.equals(seen) || unsettled >= MOST_UNSETTLED);
        seen = changed ? now : null;
        boolean retry = untilRetry > 0 && --untilRetry == 0;
        return settled || retry;
    }

    private Looks look() {
        Set<Path> all = new LinkedHashSet<>(files);
        globs.forEach(glob -> all.addAll(found(glob)));
        Looks looks = new Looks(new HashMap<>(), new HashMap<>());
        all.forEach(file -> looks.files.put(file, look(file)));
        directories.forEach(directory -> looks.directories.put(directory, lookAtDirectory(directory)));
        return looks;
    }

    private static List<Path> found(FileGlob glob) {
        try {
            return glob.files();
        } catch (FileFault e) {
            return List.of(); // who would read them is told
        }
    }

    private static Optional<FileStamp> look(Path file) {
        try {
            return Optional.of(FileStamp.of(file));
        } catch (FileFault e) {
            return Optional.empty(); // missing, or not to be seen, which is the same to who would read it
        }
    }

    /** Only its place counts: it also changes with files that no pattern stands for. */
    private static Optional<FileStamp> lookAtDirectory(Path directory) {
        return Files.isDirectory(directory) ? look(directory).map(FileStamp::place) : Optional.empty();
    }
}
