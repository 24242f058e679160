package dev.gateway.runtime;

import dev.gateway.config.yaml.Json;
import dev.gateway.files.FileFault;
import dev.gateway.files.FilePermissions;
import dev.gateway.files.InputFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Drain file: the endpoints that operators have taken out of service, as JSON. Blocks on the file; not for event loops. */
record DrainFile(Path directory) {
    private static final String NAME = "drained-endpoints.json";
    private static final int FORMAT = 1; // another number means that a list of this form says something else
    private static final int MAX_BYTES = 1 << 20; // some 10,000 endpoints
    private static final Pattern TEMPORARY = Pattern.compile("new-\\d+\\.json");
    private static final Duration LEFT = Duration.ofMinutes(1); // nobody writes for so long
    private static final Logger log = LoggerFactory.getLogger(DrainFile.class);
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
     * Creates the directory if it does not exist, and removes the temporary files of processes that were killed.
     *
     * @return a warning if somebody else may write the file, or has written it; empty if not
     * @throws IOException if the directory cannot be made, or this process may not write there
     */
    String prepare() throws IOException {
        try {
            Path probe = temporary();
            try {
                removeLeft(Files.getLastModifiedTime(probe).toInstant().minus(LEFT));
                return FilePermissions.POSIX ? strangeWriter(Files.getOwner(probe)) : "";
            } finally {
                Files.delete(probe);
            }
        } catch (IOException e) {
            throw FileFault.replacing(path(), e);
        }
    }

    /** The other process of a hand-over may write just now, so younger files stay. */
    private void removeLeft(Instant before) throws IOException {
        List<Path> left = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(
                directory,
                file -> TEMPORARY.matcher(file.getFileName().toString()).matches())) {
            all.forEach(left::add);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        for (Path each : left) {
            try {
                if (Files.getLastModifiedTime(each).toInstant().isBefore(before)) {
                    Files.deleteIfExists(each);
                }
            } catch (IOException e) { // it does no harm, and the other process may have used it
                log.debug("Cannot remove what a process has left: {}", FileFault.message(e));
            }
        }
    }

    private String strangeWriter(UserPrincipal self) throws IOException {
        PosixFileAttributes attributes;
        try {
            attributes = Files.readAttributes(path(), PosixFileAttributes.class);
        } catch (NoSuchFileException e) {
            return "";
        }
        UserPrincipal owner = attributes.owner();
        if (!owner.equals(self) && !owner.getName().equals("root")) { // who may do everything anyway
            return path() + " belongs to " + owner.getName() + ", not to the gateway's user " + self.getName()
                    + ": check what it says";
        }
        return attributes.permissions().contains(PosixFilePermission.OTHERS_WRITE)
                ? "every user of this machine may write " + path() + ": check what it says"
                : "";
    }

    /**
     * Returns what the file says, null if the file does not exist.
     *
     * @throws IOException if it cannot be read, or is not of this format
     */
    @Nullable
    List<Entry> read() throws IOException {
        byte[] content;
        try {
            content = InputFile.bytes(path(), MAX_BYTES);
        } catch (FileFault e) {
            if (isAbsence(e.getCause())) {
                return null;
            }
            throw e;
        }
        String text = InputFile.decode(path(), content, StandardCharsets.UTF_8);
        try {
            return parse(text);
        } catch (RuntimeException | StackOverflowError e) { // the parser recurses as deep as the text is nested
            throw new IOException(path() + " is not JSON", e);
        }
    }

    /** Java 17 has no exception of its own for a file where a directory should be. */
    private static boolean isAbsence(@Nullable Throwable cause) {
        return cause instanceof NoSuchFileException
                || (cause instanceof FileSystemException failure && "Not a directory".equals(failure.getReason()));
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
        if (content.length > MAX_BYTES) {
            throw new IOException(path() + " would be larger than " + (MAX_BYTES >> 20) + " MiB");
        }
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
            throw FileFault.replacing(path(), e);
        }
        if (FilePermissions.POSIX) {
            forceName();
        }
    }

    /** Lets a crash of the machine not bring the former file back. */
    private void forceName() {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        } catch (IOException e) {
            // Some file systems cannot do that for directories, and this is no reason to say that nothing was written.
            log.debug("Cannot force {} to the disk: {}", directory, FileFault.message(e));
        }
    }

    private Path temporary() throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(directory, FilePermissions.of("rwx------"));
        }
        return Files.createTempFile(directory, "new-", ".json", FilePermissions.of("rw-------"));
    }
}
