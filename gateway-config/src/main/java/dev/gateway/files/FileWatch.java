package dev.gateway.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether files have changed since they were last read, by looking at them from time to time: a file written in
 * place, one renamed over it, and a symbolic link that leads elsewhere, in whichever directory of its path, are all seen
 * alike. Used by one thread at a time.
 */
public final class FileWatch {
    private final List<Path> files;
    private List<String> read; // what the files looked like just before they were read
    private @Nullable List<String> seen; // what they looked like at the last look, if that was different

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
     * Looks again.
     *
     * @return whether the files have changed, and not since the last look: whoever writes them has probably finished
     */
    public boolean hasSettled() {
        List<String> now = look();
        boolean settled = now.equals(seen);
        seen = now.equals(read) ? null : now;
        return settled && seen != null;
    }

    private List<String> look() {
        List<String> looks = new ArrayList<>(files.size());
        for (Path file : files) {
            looks.add(look(file));
        }
        return looks;
    }

    private static String look(Path file) {
        try {
            Path real = file.toRealPath();
            BasicFileAttributes attributes = Files.readAttributes(real, BasicFileAttributes.class);
            return real + " " + attributes.fileKey() + " " + attributes.lastModifiedTime() + " " + attributes.size();
        } catch (IOException e) {
            return "missing"; // or not to be seen, which is the same to who would read it
        }
    }
}
