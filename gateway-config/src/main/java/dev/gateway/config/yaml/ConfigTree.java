package dev.gateway.config.yaml;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.schema.IncludeSchema;
import dev.gateway.config.yaml.schema.IncludeSchema.Include;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.Node;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.config.yaml.type.Type;
import dev.gateway.files.FileFault;
import dev.gateway.files.FileGlob;
import dev.gateway.files.FileWatch;
import dev.gateway.files.InputFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the files of one configuration, each to a tree of nodes that know their file, and joins the trees: lists of the same
 * key become one, and everything else stands once. A file comes before those that it includes.
 */
final class ConfigTree {
    /** How many files a configuration may have. */
    static final int MOST_FILES = FileGlob.MOST_FILES;

    /** How large all of them may be together. */
    static final int MOST_BYTES = 8 << 20;

    private static final String NAMES = "*.yaml"; // of the files of a directory
    private static final String OTHER_NAMES = "*.yml";

    private final Scope scope;
    private final ObjectType<GatewayConfig> schema;
    private final FileWatch watch;
    private final Map<String, Node.Entry> entries = new LinkedHashMap<>();
    private final Set<String> unsure = new HashSet<>();
    private final Map<Path, Position> included = new HashMap<>(); // by real path, where it was
    private final Deque<Path> open = new ArrayDeque<>(); // real paths of files whose includes are being read
    private @Nullable Position position;
    private int bytes;
    private boolean full; // there are more files than there may be
    private boolean complete = true;

    /**
     * The joined trees.
     *
     * @param root without the keys that include files
     * @param unsure sections of which a file has something else than the list it should be, or has them by a misspelt key
     * @param complete whether every file could be read
     */
    record Joined(Node.Mapping root, Set<String> unsure, boolean complete) {}

    private ConfigTree(Scope scope, ObjectType<GatewayConfig> schema, FileWatch watch) {
        this.scope = scope;
        this.schema = schema;
        this.watch = watch;
    }

    /** Returns the tree of a text and what it includes, or null after a problem was reported. */
    static @Nullable Joined parse(
            String name, byte[] bytes, Scope scope, ObjectType<GatewayConfig> schema, FileWatch watch) {
        ConfigTree tree = new ConfigTree(scope, schema, watch);
        tree.read(name, bytes, scope.directory, YamlText.CONFIGURATION);
        return tree.joined();
    }

    /** Returns the tree of a file, or of the files of a directory, or null after a problem was reported. */
    static @Nullable Joined load(Path source, Scope scope, ObjectType<GatewayConfig> schema, FileWatch watch) {
        ConfigTree tree = new ConfigTree(scope, schema, watch);
        if (Files.isDirectory(source)) {
            tree.directory(source);
        } else {
            tree.file(source);
        }
        return tree.joined();
    }

    private @Nullable Joined joined() {
        // Without listeners, what was not read may have them, and it would be said that they are missing.
        return position == null || !(complete || entries.containsKey("listeners"))
                ? null
                : new Joined(new Node.Mapping(position, entries), unsure, complete);
    }

    private void file(Path file) {
        watch.add(file);
        String name = file.toString();
        try (InputStream in = Files.newInputStream(file)) { // may be a pipe, unlike the files that it includes
            byte[] content = in.readNBytes(YamlText.MAX_BYTES + 1);
            Path real = Files.isRegularFile(file) ? file.toRealPath() : file;
            included.put(real, new Position(name, 0, 0));
            open.push(real);
            bytes = content.length;
            read(name, content, folder(file), YamlText.CONFIGURATION);
        } catch (IOException e) {
            missing(new Position(name, 0, 0), "", FileFault.reading(file, e));
        }
    }

    private void directory(Path directory) {
        Position whole = new Position(directory.toString(), 0, 0);
        position = whole;
        List<Path> files = found(new FileGlob(directory, NAMES), whole, "");
        if (files.isEmpty() && complete) {
            missing(whole, "no file in this directory is named " + NAMES);
        }
        try {
            for (Path other : new FileGlob(directory, OTHER_NAMES).files()) {
                scope.problems.warning(
                        new Position(other.toString(), 0, 0),
                        "this file is not read: the name of a file in a directory must end in .yaml");
            }
        } catch (FileFault e) {
            missing(whole, "", e);
        }
        files.forEach(file -> part(file, new Position(file.toString(), 0, 0), ""));
    }

    private void missing(Position at, String message) {
        scope.problems.error(at, message);
        complete = false;
    }

    private void missing(Position at, String label, FileFault fault) {
        missing(at, label + fault.getMessage());
        if (fault.mayPass()) {
            watch.unread();
        }
    }

    private void include(Path folder, Include include) {
        if (full) {
            return; // of more files it need not be known which they are
        }
        Path path = folder.resolve(include.text()).normalize();
        Path name = path.getFileName();
        String label = "include: ";
        if (name != null && FileGlob.isPattern(name.toString())) {
            FileGlob glob = new FileGlob(path.resolveSibling(""), name.toString());
            List<Path> files = found(glob, include.position(), label);
            if (files.isEmpty() && complete) {
                scope.problems.warning(include.position(), label + "no file matches " + glob);
            }
            files.forEach(file -> part(file, include.position(), label));
        } else if (Files.isDirectory(path)) {
            watch.addDirectory(path);
            missing(include.position(), label + path + " is a directory: write " + include.text() + "/" + NAMES);
        } else {
            part(path, include.position(), label);
        }
    }

    private List<Path> found(FileGlob glob, Position at, String label) {
        try {
            List<Path> files = watch.add(glob);
            warnOfWriters(glob.directory(), at, label, "every user of this machine may add files to ");
            return files;
        } catch (FileFault e) {
            missing(at, label, e);
            return List.of();
        }
    }

    /** Reads a file that somebody includes, or one of a directory. */
    private void part(Path file, Position by, String label) {
        if (included.size() == MOST_FILES) {
            missing(by, label + "more than " + MOST_FILES + " files");
            full = true;
            return;
        }
        watch.add(file);
        try {
            Path real = file.toRealPath();
            Position before = included.putIfAbsent(real, by);
            if (before != null) {
                scope.problems.error(by, label + again(file, real, before, by));
                return;
            }
            byte[] content = InputFile.bytes(file, YamlText.MAX_BYTES);
            bytes += content.length;
            if (bytes > MOST_BYTES) {
                missing(by, label + "all files together are larger than " + (MOST_BYTES >> 20) + " MiB");
                return;
            }
            warnOfWriters(file, by, label, "every user of this machine may write ");
            open.push(real);
            read(file.toString(), content, folder(file), YamlText.PART);
            open.pop();
        } catch (IOException e) {
            missing(by, label, FileFault.reading(file, e));
        }
    }

    private String again(Path file, Path real, Position before, Position by) {
        if (open.contains(real)) {
            return real.equals(open.peek())
                    ? "a file cannot include itself"
                    : "a cycle: " + file + " leads to this file by its own 'include'";
        }
        return file
                + (before.line() == 0 ? " is read already, as " : " is included already, in ")
                + before.seenFrom(by);
    }

    /** What everybody may write decides where requests go. Kubernetes mounts files for everybody, but read-only. */
    private void warnOfWriters(Path path, Position at, String label, String what) {
        try {
            if (Files.getPosixFilePermissions(path).contains(PosixFilePermission.OTHERS_WRITE) && !isReadOnly(path)) {
                scope.problems.warning(at, label + what + path + ": 'chmod o-w' prevents that");
            }
        } catch (IOException | UnsupportedOperationException e) {
            // who reads it reports what is wrong, and a file system without such permissions has nobody else
        }
    }

    private static boolean isReadOnly(Path path) {
        try {
            return Files.getFileStore(path).isReadOnly();
        } catch (IOException e) {
            return false; // where that cannot be told, better a warning too many
        }
    }

    private void read(String name, byte[] content, Path folder, YamlText kind) {
        scope.begin(name, folder);
        Node written = kind.read(name, content, scope.problems);
        Node node = written == null ? null : schema.withCurrentNames(written, scope.problems);
        if (!(node instanceof Node.Mapping mapping)) {
            if (node != null) {
                schema.read(node, "the file", scope); // says what is expected
            }
            complete = false;
            return;
        }
        if (position == null) {
            position = mapping.position();
        }
        unsure.addAll(schema.misspelt(mapping));
        mapping.entries().forEach((key, entry) -> {
            if (!key.equals(IncludeSchema.KEY)) {
                join(key, entry);
            }
        });
        Node.Entry include = mapping.entries().get(IncludeSchema.KEY);
        List<Include> includes =
                include == null ? List.of() : IncludeSchema.LIST.read(include.value(), IncludeSchema.KEY, scope);
        for (Include each : includes) {
            if (each.text().isEmpty()) {
                complete = false; // it could not be read
            } else {
                include(folder, each);
            }
        }
        complete &= include == null || include.value() instanceof Node.Sequence;
    }

    private void join(String key, Node.Entry entry) {
        Node.Entry first = entries.get(key);
        Type<?> type = schema.type(key);
        if (first == null) {
            entries.put(key, entry);
        } else if (type == null) {
            schema.refuse(key, entry, scope);
        } else if (type instanceof ListType<?> list) {
            entries.put(key, new Node.Entry(first.keyPosition(), joined(key, list, first.value(), entry.value())));
        } else {
            scope.problems.error(
                    entry.keyPosition(),
                    "duplicate key '" + key + "', first written in "
                            + first.keyPosition().seenFrom(entry.keyPosition()) + ": only lists are joined");
        }
    }

    /** What is no list is reported here, so that the other is read nevertheless. */
    private Node joined(String key, ListType<?> type, Node first, Node second) {
        if (!(second instanceof Node.Sequence more)) {
            type.read(second, key, scope);
            unsure.add(key);
            return first;
        } else if (!(first instanceof Node.Sequence list)) {
            type.read(first, key, scope);
            unsure.add(key);
            return second;
        } else {
            List<Node> items = new ArrayList<>(list.items());
            items.addAll(more.items());
            return new Node.Sequence(list.position(), items);
        }
    }

    /** Returns the directory of a file, as the operator named it. */
    private static Path folder(Path file) {
        Path parent = file.getParent();
        return parent == null ? Path.of("") : parent;
    }
}
