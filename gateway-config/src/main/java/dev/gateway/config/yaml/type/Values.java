package dev.gateway.config.yaml.type;

import dev.gateway.config.value.Concealed;
import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The keys of one object as they were read, for its constructor and its checks. */
public final class Values {
    private final Node.Mapping mapping;
    private final Scope scope;
    private final Set<String> meant;
    private final Map<String, Object> read = new HashMap<>();
    private final int errorsBefore;

    /**
     * Makes them, empty.
     *
     * @param meant keys that are missing because others were written for them, which was reported
     * @param errorsBefore how many errors there were before the object was looked at
     */
    Values(Node.Mapping mapping, Scope scope, Set<String> meant, int errorsBefore) {
        this.mapping = mapping;
        this.scope = scope;
        this.meant = meant;
        this.errorsBefore = errorsBefore;
    }

    void put(Key<?, ?> key, Object value) {
        read.put(key.name(), value);
    }

    /** Returns the value of a key that is required, a section or has a default. */
    public <V> V get(Key<?, V> key) {
        return Objects.requireNonNull(find(key), key.name());
    }

    /** Returns the value of an optional key, null if it was not written. */
    @SuppressWarnings("unchecked")
    public <V> @Nullable V find(Key<?, V> key) {
        return (V) read.get(key.name());
    }

    /** Whether no mistake was found in the object so far. */
    public boolean isSound() {
        return meant.isEmpty() && scope.problems.errors() == errorsBefore;
    }

    /** Whether the file gives a value for the key. */
    public boolean has(String key) {
        return mapping.entries().containsKey(key);
    }

    /** Whether a list is as it was meant: written as a list, or not at all. */
    public boolean isList(String key) {
        Node.Entry entry = mapping.entries().get(key);
        return entry == null ? !meant.contains(key) : entry.value() instanceof Node.Sequence;
    }

    /** Returns where the object stands in the file. */
    public Position position() {
        return mapping.position();
    }

    /** Returns where a key's value stands, or the object if it was not written. */
    public Position at(String key) {
        Node.Entry entry = mapping.entries().get(key);
        return entry == null ? mapping.position() : entry.value().position();
    }

    /** Returns where a key stands, or the object if it was not written. */
    public Position atKey(String key) {
        Node.Entry entry = mapping.entries().get(key);
        return entry == null ? mapping.position() : entry.keyPosition();
    }

    /** Returns where a key's value stands in an object that was read before, or the object if it was not written. */
    public Position at(Record value, String key) {
        return scope.at(value, key);
    }

    /** Whether a scalar in an object that was read before was absent, or could be read; if not it was reported. */
    public boolean isReadable(Record value, String key, ScalarType<?> type) {
        String text = scope.text(value, key);
        return text.isEmpty() || canParse(text, key, type);
    }

    /** Whether a scalar can be read; if not it was reported. */
    public boolean isReadable(String key, ScalarType<?> type) {
        return canParse(written(key), key, type);
    }

    private boolean canParse(String text, String key, ScalarType<?> type) {
        try {
            type.parse(scope.variables.replace(text), new ScalarType.Site(position(), key, scope.quiet()));
            return true;
        } catch (InvalidException e) {
            return false;
        }
    }

    /** Returns a scalar as it was written, before variables were replaced. */
    public String written(String key) {
        Node.Entry entry = mapping.entries().get(key);
        return entry != null && entry.value() instanceof Node.Scalar scalar ? scalar.text() : "";
    }

    /** Returns a scalar as it is read, with variables replaced; empty if there is none. */
    public String resolved(String key) {
        try {
            return scope.variables.replace(written(key));
        } catch (InvalidException e) {
            return ""; // reported where the value is read
        }
    }

    /** Returns the object that an empty mapping in this place stands for. */
    public <V> V everything(Type<V> type) {
        return type.read(new Node.Mapping(mapping.position(), Map.of()), "", scope.quiet());
    }

    /** Says that an object was written where another was. */
    public void inherit(Object value, Object origin) {
        scope.inherit(value, origin);
    }

    /** Whether a key of an object that was read before was written. */
    public boolean wrote(Record value, String key) {
        return scope.wrote(value, key);
    }

    /** Returns what must not be shown of all that is read. */
    public Concealed concealed() {
        return scope.concealed;
    }

    /** Whether environment variables are part of a scalar, which must not be shown then. */
    public boolean isFromEnvironment(String key) {
        return Variables.in(written(key));
    }

    /** Returns the directory that relative paths in the object start from. */
    public Path directory() {
        return scope.directory(position());
    }

    /** Returns the directory of the whole configuration, whichever of its files the object is in. */
    public Path configurationDirectory() {
        return scope.directory;
    }

    /** Reports a size of zero bytes where that makes no sense. */
    public void refuseZero(String key, long bytes) {
        if (bytes == 0 && has(key) && isReadable(key, Types.SIZE)) {
            error(at(key), key + ": expected at least 1B");
        }
    }

    /** Adds an error at a place of the file. */
    public void error(Position position, String message) {
        scope.problems.error(position, message);
    }

    /** Adds a warning at a place of the file. */
    public void warning(Position position, String message) {
        scope.problems.warning(position, message);
    }
}
