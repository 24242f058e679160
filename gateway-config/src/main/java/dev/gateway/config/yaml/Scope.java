package dev.gateway.config.yaml;

import dev.gateway.config.Position;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.Map;

/** What reading one file needs everywhere: where problems go, variables, and what relative paths start from. */
final class Scope {
    final Problems problems;
    final Variables variables;
    final Path directory;
    private final Map<Object, Node.Mapping> origins;

    Scope(Problems problems, Variables variables, Path directory) {
        this(problems, variables, directory, new IdentityHashMap<>());
    }

    private Scope(Problems problems, Variables variables, Path directory, Map<Object, Node.Mapping> origins) {
        this.problems = problems;
        this.variables = variables;
        this.directory = directory.toAbsolutePath().normalize();
        this.origins = origins;
    }

    /** Returns the same scope without an ear: what follows from a problem that was reported is not reported again. */
    Scope quiet() {
        return new Scope(new Problems(), variables, directory, origins);
    }

    void remember(Object value, Node.Mapping origin) {
        origins.put(value, origin);
    }

    void inherit(Object value, Object from) {
        Node.Mapping origin = origins.get(from);
        if (origin != null) {
            origins.put(value, origin);
        }
    }

    /** Returns where a key's value of an object stands, or where the object does if the key was not written. */
    Position at(Record value, String key) {
        Node.Mapping origin = origins.get(value);
        if (origin == null) {
            throw new IllegalArgumentException("not read from this file: " + value);
        }
        Node.Entry entry = origin.entries().get(key);
        return entry == null ? origin.position() : entry.value().position();
    }

    /** Whether a key of an object was written. */
    boolean wrote(Record value, String key) {
        Node.Mapping origin = origins.get(value);
        return origin != null && origin.entries().containsKey(key);
    }
}
