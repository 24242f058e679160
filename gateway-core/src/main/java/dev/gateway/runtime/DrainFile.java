package dev.gateway.runtime;

import dev.gateway.config.yaml.Json;
import dev.gateway.files.FileFault;
import dev.gateway.files.InputFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Drain file: the endpoints that operators have taken out of service, as JSON. Blocks on the file; not for event loops. */
record DrainFile(Path directory) {
    private static final String NAME = "drained-endpoints.json";
    private static final int FORMAT = 1; // another number means that a list of this form says something else
    private static final int MAX_BYTES = 4 << 20;
    private static final LoadSettings SETTINGS =
            LoadSettings.builder().setCodePointLimit(MAX_BYTES).build();

    /**
     * An endpoint.
     *
     * @param sessionsUntil when its sessions go to other endpoints, null if they have
     */
    record Entry(String upstream, String endpoint, @Nullable Instant sessionsUntil) {}

    Path path() {
        return directory.resolve(NAME);
    }

    /**
     * Makes the directory if there is none.
     *
     * @throws IOException if it cannot be made, or this process may not write there
     */
    void prepare() throws IOException {
        try {
            Files.delete(temporary());
        } catch (IOException e) {
            throw FileFault.writing(path(), e);
        }
    }

    /**
     * Returns what the file says, null if there is none.
     *
     * @throws IOException if it cannot be read, or is not of this format
     */
    @Nullable
    List<Entry> read() throws IOException {
        byte[] content;
        try {
            content = InputFile.bytes(path(), MAX_BYTES);
        } catch (FileFault e) {
            if (e.getCause() instanceof NoSuchFileException) {
                return null;
            }
            throw e;
        }
        String text = InputFile.decode(path(), content, StandardCharsets.UTF_8);
        try {
            return parse(text);
        } catch (YamlEngineException e) {
            throw new IOException(path() + " is not JSON", e);
        }
    }

    private List<Entry> parse(String text) throws IOException {
        Object read = new Load(SETTINGS).loadFromString(text); // JSON is YAML
        if (!(read instanceof Map<?, ?> root) || !(root.get("format") instanceof Integer format)) {
            throw new IOException(path() + " is not a file of drains");
        }
        if (format != FORMAT) {
            throw new IOException(path() + " has format " + format + ", which this version of the gateway cannot read");
        }
        if (!(root.get("endpoints") instanceof List<?> list)) {
            throw new IOException(path() + " has no list of endpoints");
        }
        List<Entry> entries = new ArrayList<>();
        for (Object each : list) {
            entries.add(entry(each));
        }
        return entries;
    }

    private Entry entry(Object read) throws IOException {
        if (read instanceof Map<?, ?> entry
                && entry.get("upstream") instanceof String upstream
                && entry.get("endpoint") instanceof String endpoint) {
            Object until = entry.get("sessionsUntil");
            try {
                return new Entry(upstream, endpoint, until == null ? null : Instant.parse(until.toString()));
            } catch (DateTimeParseException e) {
                throw new IOException(path() + " has a time that cannot be read: " + until, e);
            }
        }
        throw new IOException(path() + " has an entry without upstream or endpoint");
    }

    private static byte[] content(Collection<Entry> entries) {
        List<Map<String, Object>> list = new ArrayList<>();
        for (Entry entry : entries) {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("upstream", entry.upstream);
            json.put("endpoint", entry.endpoint);
            if (entry.sessionsUntil != null) {
                json.put("sessionsUntil", entry.sessionsUntil.toString());
            }
            list.add(json);
        }
        Map<String, Object> root = new LinkedHashMap<>();
        root.put("format", FORMAT);
        root.put("endpoints", list);
        return Json.write(root).getBytes(StandardCharsets.UTF_8);
    }

    /** Puts a new file in the place of the former one. A reader sees one of them whole, also after a crash. */
    void write(Collection<Entry> entries) throws IOException {
        byte[] content = content(entries);
        try {
            Path temporary = temporary();
            try {
                try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
                    ByteBuffer bytes = ByteBuffer.wrap(content);
                    while (bytes.hasRemaining()) {
                        channel.write(bytes);
                    }
                    channel.force(true);
                }
                Files.move(temporary, path(), StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(temporary); // there is one only if something has failed
            }
        } catch (IOException e) {
            throw FileFault.writing(path(), e);
        }
    }

    private Path temporary() throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(directory, owners("rwx------"));
        }
        return Files.createTempFile(directory, "new-", ".json", owners("rw-------"));
    }

    private static FileAttribute<?>[] owners(String permissions) {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : new FileAttribute<?>[0];
    }
}
