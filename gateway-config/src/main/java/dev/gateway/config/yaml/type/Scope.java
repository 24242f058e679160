package dev.gateway.config.yaml.type;

import dev.gateway.config.value.Concealed;
import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Parsing context. What reading one configuration needs everywhere: where problems go, variables, and what relative paths
 * start from.
 */
public final class Scope {
    public final Problems problems;
    public final Variables variables;
    public final Path directory;
    public final Instant now;
    final Concealed concealed;
    private final Map<Object, Node.Mapping> origins;
    private final Map<String, Path> directories; // of files, by their names in positions

    /** Makes the scope of one configuration: relative paths start at the directory, except in files that begin elsewhere. */
    public Scope(Problems problems, Variables variables, Path directory, Instant now) {
        this(problems, variables, directory, now, new IdentityHashMap<>(), new Concealed(), new HashMap<>());
        problems.conceal(variables);
    }

    private Scope(
            Problems problems,
            Variables variables,
            Path directory,
            Instant now,
            Map<Object, Node.Mapping> origins,
            Concealed concealed,
            Map<String, Path> directories) {
        this.directories = directories;
        this.concealed = concealed;
        this.problems = problems;
        this.variables = variables;
        this.directory = directory.toAbsolutePath().normalize();
        this.now = now;
        this.origins = origins;
    }

    /** Returns the same scope without an ear: what follows from a problem that was reported is not reported again. */
    Scope quiet() {
        return new Scope(new Problems(), variables, directory, now, origins, concealed, directories);
    }

    /** Begins to read a file, in which relative paths start at this directory. */
    public void begin(String file, Path start) {
        directories.put(file, start.toAbsolutePath().normalize());
        problems.begin(file);
    }

    /** Returns where a relative path starts that stands at this place. */
    public Path directory(Position at) {
        return directories.getOrDefault(at.file(), directory);
    }

    void remember(Object value, Node.Mapping origin) {
        origins.put(value, origin);
    }

    void inherit(Object value, Object from) {
        Node.Mapping origin = origins.get(from);
        if (origin != null) {
            origins.put(value, origin);
        }
        concealed.inherit(value, from);
    }

    /** Returns where a key's value of an object stands, or where the object does if the key was not written. */
    public Position at(Record value, String key) {
        Node.Mapping origin = origins.get(value);
        if (origin == null) {
            throw new IllegalArgumentException("not read from this file: " + value);
        }
        Node.Entry entry = origin.entries().get(key);
        return entry == null ? origin.position() : entry.value().position();
    }

    /** Returns where a key's value of an object in an object stands, or the nearest that was written. */
    public Position at(Record value, String key, String inner) {
        Node.Entry found = find(value, key, inner);
        return found == null ? at(value, key) : found.value().position();
    }

    /** Whether a key of an object in an object was written. */
    public boolean wrote(Record value, String key, String inner) {
        return find(value, key, inner) != null;
    }

    private Node.@Nullable Entry find(Record value, String key, String inner) {
        Node.Mapping origin = origins.get(value);
        Node.Entry entry = origin == null ? null : origin.entries().get(key);
        return entry != null && entry.value() instanceof Node.Mapping nested
                ? nested.entries().get(inner)
                : null;
    }

    /** Returns a key's scalar as it was written, empty if there is none. */
    String text(Record value, String key) {
        Node.Mapping origin = origins.get(value);
        Node.Entry entry = origin == null ? null : origin.entries().get(key);
        return entry != null && entry.value() instanceof Node.Scalar scalar ? scalar.text() : "";
    }

    /** Whether a key of an object was written, and its value is not one that stands in for what could not be read. */
    public boolean read(Record value, String key) {
        Node.Mapping origin = origins.get(value);
        Node.Entry entry = origin == null ? null : origin.entries().get(key);
        return entry != null && !problems.isAnythingUnreadable(entry.value());
    }

    /** Whether a key of an object was written. */
    public boolean wrote(Record value, String key) {
        Node.Mapping origin = origins.get(value);
        return origin != null && origin.entries().containsKey(key);
    }
}
