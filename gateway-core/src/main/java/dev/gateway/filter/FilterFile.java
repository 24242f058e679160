package dev.gateway.filter;

import dev.gateway.config.value.Position;
import dev.gateway.files.FileFault;
import dev.gateway.files.FileWatch;
import dev.gateway.files.StartException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that a filter uses. It is read again when it has changed, whatever the configuration's own file is like by then,
 * and requests that begin afterwards see the new contents. What cannot be used changes nothing. Event loops ask for the
 * contents; the thread that reloads changes them.
 */
public final class FilterFile<T> implements FilterStates.Watched, Supplier<T> {
    private static final Logger log = LoggerFactory.getLogger(FilterFile.class);

    private final Path path;
    private final Reader<T> reader;
    private final FileWatch watch;
    private volatile @Nullable T contents;
    private volatile String problem = "";
    private Use use;

    /** Makes sense of a file. */
    public interface Reader<T> {
        /**
         * Reads it.
         *
         * @throws IOException if it cannot be used; the message names the file
         */
        T read(Path path) throws IOException;
    }

    /**
     * Who uses the file, for messages.
     *
     * @param at by the active configuration
     * @param user such as {@code header Authorization}
     * @param what is in the file, such as {@code value}
     */
    public record Use(Position at, String user, String what) {}

    private FilterFile(Path path, Reader<T> reader, Use use) {
        this.path = path;
        this.reader = reader;
        this.use = use;
        this.watch = new FileWatch(List.of(path));
    }

    /**
     * Returns a file, read if it is new or has changed. One that is still being written is left for the next look: half a
     * list is another list.
     *
     * @param key the same for all who read the same of the same file
     * @throws StartException if it cannot be used
     */
    @SuppressWarnings("unchecked") // a key has one kind of contents
    public static <T> FilterFile<T> of(Object key, Path path, Reader<T> reader, Use use, FilterStates.Prepared states)
            throws StartException {
        FilterFile<T> file = states.get(key, FilterFile.class, () -> new FilterFile<>(path, reader, use));
        states.onUse(file, () -> file.use = use);
        try {
            boolean isNews = !file.problem.isEmpty() || file.watch.hasChanged();
            if (file.contents == null || (isNews && !file.isBeingWritten())) {
                file.read();
            }
        } catch (IOException e) {
            throw StartException.at(use.at, e);
        }
        return file;
    }

    @Override
    public T get() {
        return Objects.requireNonNull(contents); // read before anybody gets the object
    }

    private void read() throws IOException {
        watch.reading();
        contents = reader.read(path);
        problem = "";
    }

    @Override
    public boolean isBeingWritten() {
        return watch.isBeingWritten();
    }

    @Override
    public void look() {
        if (!watch.hasSettled()) {
            return;
        }
        try {
            read();
            log.info("Loaded the new {} of {} from {}", use.what, use.user, path);
        } catch (IOException e) {
            if (e instanceof FileFault) {
                watch.unread();
            }
            String now = use.at + ": " + use.user + ": keeping the previous " + use.what + ": " + FileFault.message(e);
            if (!now.equals(problem)) {
                log.warn(now);
            }
            problem = now;
        }
    }

    @Override
    public List<String> problems() {
        String current = problem;
        return current.isEmpty() ? List.of() : List.of(current);
    }
}
