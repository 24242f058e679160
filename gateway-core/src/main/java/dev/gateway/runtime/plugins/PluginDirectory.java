package dev.gateway.runtime.plugins;

import dev.gateway.config.Problem;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.files.FileFault;
import dev.gateway.files.FileWatch;
import dev.gateway.files.InputFile;
import dev.gateway.filter.plugin.PluginType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Directory of plugins. Loads a jar again only if its bytes have changed. A jar that cannot be loaded keeps all of them from
 * being used, and those that were loaded before stay. Used by one thread at a time; blocks.
 */
final class PluginDirectory {
    private static final Logger log = LoggerFactory.getLogger(PluginDirectory.class);
    private static final long MAX_BYTES = 64 << 20;

    private final Path directory;
    private final Level news; // of what went well
    private Map<Path, Opened> jars = Map.of();
    private @Nullable FileWatch failed; // null if the last load has not failed

    /** A jar of which this is a user, and what is in it. */
    private record Opened(PluginJar jar, List<PluginType> plugins) {}

    /**
     * What has come of reading the directory.
     *
     * @param plugins empty if there are problems
     */
    record Loaded(List<PluginType> plugins, List<Problem> problems) {}

    PluginDirectory(Path directory, Level news) {
        this.directory = directory;
        this.news = news;
    }

    /**
     * Reads the jars.
     *
     * @param named whether the operator has named the directory, which must exist then
     */
    Loaded load(boolean named) {
        List<Problem> problems = new ArrayList<>();
        Map<Path, Opened> next = new LinkedHashMap<>();
        List<Path> files = files(named, problems);
        List<Path> watched = new ArrayList<>(files);
        watched.add(directory);
        FileWatch watch = new FileWatch(watched); // not later: a jar may change while it is read
        failed = null;
        try {
            for (Path file : files) {
                Opened opened = opened(file, problems);
                if (opened != null) {
                    next.put(file, opened);
                }
            }
            reportClashes(next.values().stream().flatMap(each -> each.plugins.stream()), problems);
        } catch (Error e) {
            releaseAdded(next);
            failed = watch;
            throw e;
        }
        Map<Path, Opened> given = jars;
        if (!problems.isEmpty()) {
            releaseAdded(next);
            failed = watch;
            return new Loaded(List.of(), problems);
        }
        jars = next;
        given.values().stream().filter(each -> !next.containsValue(each)).forEach(each -> each.jar.release());
        return new Loaded(
                next.values().stream().flatMap(each -> each.plugins.stream()).toList(), problems);
    }

    private void releaseAdded(Map<Path, Opened> opened) {
        opened.values().stream().filter(each -> !jars.containsValue(each)).forEach(each -> each.jar.release());
    }

    /** Looks at the jars, and returns whether they have changed since a load of them failed, and not since the last look. */
    boolean hasSettledSinceFailure() {
        return failed != null && failed.hasSettled();
    }

    /** Uses the jars no more. */
    void close() {
        Map<Path, Opened> used = jars;
        jars = Map.of();
        used.values().forEach(each -> each.jar.release());
    }

    private List<Path> files(boolean named, List<Problem> problems) {
        if (!named && !Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(directory)) {
            List<Path> found = entries.filter(PluginDirectory::isJar).sorted().toList();
            Writers writers = found.isEmpty() ? null : Writers.ofProcess();
            if (writers != null) {
                refuse(writers.objection(directory.toRealPath(), Writers.Kind.DIRECTORY), problems);
                for (Path each : problems.isEmpty() ? found : List.<Path>of()) {
                    refuse(writers.objection(each.toRealPath(), Writers.Kind.FILE), problems);
                }
            }
            return problems.isEmpty() ? found : List.of();
        } catch (IOException e) {
            problems.add(error(directory, "cannot be read as a directory of plugins: " + FileFault.message(e)));
            return List.of();
        }
    }

    static boolean isJar(Path file) {
        return file.toString().endsWith(".jar");
    }

    private void refuse(@Nullable String objection, List<Problem> problems) {
        if (objection != null) {
            problems.add(error(directory, "no plugin is loaded: " + objection));
        }
    }

    private @Nullable Opened opened(Path file, List<Problem> problems) {
        PluginJar fresh = null;
        Opened opened = null;
        try {
            byte[] bytes = InputFile.bytes(file.toRealPath(), MAX_BYTES);
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
            Opened before = jars.get(file);
            if (before != null && before.jar.has(hash)) {
                return before;
            }
            fresh = PluginJar.open(String.valueOf(file.getFileName()), bytes, hash, news);
            opened = new Opened(fresh, fresh.plugins());
            log.atLevel(news)
                    .log(
                            "Loaded {}: {}",
                            file,
                            opened.plugins.stream().map(PluginType::type).toList());
            return opened;
        } catch (IOException | NoSuchAlgorithmException e) {
            problems.add(error(file, FileFault.message(e)));
        } catch (Throwable e) {
            PluginType.rethrowFatal(e);
            problems.add(error(file, "the plugin cannot be loaded: " + reason(e)));
            log.debug("Loading {}", file, e);
        } finally {
            if (opened == null && fresh != null) {
                fresh.release();
            }
        }
        return opened;
    }

    private static String reason(Throwable thrown) {
        Throwable cause = thrown.getCause();
        if (thrown instanceof IllegalArgumentException && thrown.getMessage() != null) {
            return String.valueOf(thrown.getMessage());
        }
        return (thrown instanceof ServiceConfigurationError || thrown instanceof ExceptionInInitializerError)
                        && cause != null
                ? reason(cause)
                : thrown.toString();
    }

    private void reportClashes(Stream<PluginType> plugins, List<Problem> problems) {
        Map<String, PluginType> byKey = new HashMap<>();
        plugins.forEach(each -> {
            PluginType other = byKey.putIfAbsent(FilterTypes.keyOf(each.type()), each);
            if (other != null) {
                problems.add(error(
                        directory,
                        "both " + other.source() + " and " + each.source() + " have the filter type '" + each.type()
                                + "': remove one of them"));
            }
        });
    }

    private static Problem error(Path file, String message) {
        return new Problem(new Position(file.toString(), 0, 0), Problem.Severity.ERROR, message);
    }
}
