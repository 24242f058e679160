package dev.gateway.config.yaml.type;

import dev.gateway.config.value.Concealed;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Object type (YAML mapping): a mapping with known keys. Its declaration is the only description there is: reading,
 * defaults, unknown keys, JSON Schema and printing all follow from it.
 */
public final class ObjectType<T> extends Type<T> {
    private final String name;
    private final String description;
    private final Map<String, Key<T, ?>> keys = new LinkedHashMap<>();
    private final Map<String, String> reserved = new LinkedHashMap<>();
    private final Map<String, Renaming> renamed = new LinkedHashMap<>(); // by former name
    private final List<Constraint> constraints = new ArrayList<>();
    private final Hints hints = new Hints();
    private final Function<Values, T> constructor;

    private ObjectType(String name, String description, Function<Declaration<T>, Function<Values, T>> declare) {
        this.name = name;
        this.description = description;
        this.constructor = declare.apply(new Declaration<>(this, null));
    }

    /**
     * Declares an object.
     *
     * @param name singular, as messages say it: "listener"
     * @param declare adds keys and constraints, and returns what makes the object of their values
     */
    public static <T> ObjectType<T> of(
            String name, String description, Function<Declaration<T>, Function<Values, T>> declare) {
        return new ObjectType<>(name, description, declare);
    }

    /** A rule about which keys may be together, that a schema can express. */
    record Constraint(Function<Values, @Nullable Finding> problem, Map<String, Object> schema) {}

    /** A broken rule, and the key whose value shows it best. */
    public record Finding(String key, String message) {}

    /** What can be said when declaring an object. */
    public static final class Declaration<T> {
        private final ObjectType<T> type;
        private final @Nullable ReloadEffect effect;

        private Declaration(ObjectType<T> type, @Nullable ReloadEffect effect) {
            this.type = type;
            this.effect = effect;
        }

        /** Returns what declares keys of this object that have an effect of their own on a reload. */
        public Declaration<T> onReload(ReloadEffect own) {
            return new Declaration<>(type, own);
        }

        public <V> Key<T, V> required(String key, Type<V> of, Key.Getter<T, V> getter, String text) {
            return add(new Key<>(key, of, Key.Presence.REQUIRED, null, getter, text, effect));
        }

        public <V> Key<T, V> optional(String key, Type<V> of, Key.Getter<T, V> getter, String text) {
            return add(new Key<>(key, of, Key.Presence.OPTIONAL, null, getter, text, effect));
        }

        public <V> Key<T, V> defaulted(String key, Type<V> of, V fallback, Key.Getter<T, V> getter, String text) {
            return add(new Key<>(key, of, Key.Presence.DEFAULTED, fallback, getter, text, effect));
        }

        public <V> Key<T, V> section(String key, ObjectType<V> of, Key.Getter<T, V> getter, String text) {
            return add(new Key<>(key, of, Key.Presence.SECTION, null, getter, text, effect));
        }

        /**
         * A key that has a new name. Delete the declaration in the version after the next.
         *
         * @param since the version that has the new name, as 0.2
         */
        public void renamed(String former, String current, String since) {
            type.renamed.put(former, new Renaming(former, current, since));
        }

        /** A key that a later version will know. */
        public void reserve(String key, String what) {
            type.reserved.put(key, what);
        }

        /**
         * What others call keys of this object, or write here. Add what users try first.
         *
         * @param words separated by spaces
         * @param meant the key, or else a hint of its own
         */
        public void foreign(String words, String meant) {
            type.hints.foreign(words, meant);
        }

        /** What others write as keys that no list of words can have, such as statuses: the hint, null for other keys. */
        public void foreign(Function<String, @Nullable String> hint) {
            type.hints.foreign(hint);
        }

        /** The key that a single value in the place of this object belongs to, as {@code retry: 3} means its attempts. */
        public void single(String key) {
            type.hints.single(key);
        }

        /** What a single value in the place of this object means, as it is written; null for a value that means nothing. */
        public void single(Function<String, @Nullable String> rewritten) {
            type.hints.single(rewritten);
        }

        /** What to write in the place of a single value that cannot be shown, or does not say enough. */
        public void whole(String example) {
            type.hints.whole(example);
        }

        /** The two keys for which others write a name and a value. */
        public void pair(String first, String second) {
            type.hints.pair(first, second);
        }

        /** What has to be written with a key, as the type with the settings of the type. */
        public void with(String key, String other) {
            type.hints.with(key, other);
        }

        /** Requires that one of at least two keys is there, and no other of them. */
        public void exactlyOneOf(String... names) {
            int last = names.length - 1;
            String all = String.join("', '", List.of(names).subList(0, last)) + "' and '" + names[last];
            type.constraints.add(new Constraint(
                    values -> Stream.of(names).filter(values::has).count() != 1
                            ? new Finding(names[last], type.described() + " needs exactly one of '" + all + "'")
                            : null,
                    Map.of("oneOf", Stream.of(names).map(ObjectType::requires).toList())));
        }

        public void together(String one, String other) {
            type.constraints.add(new Constraint(
                    values -> values.has(one) != values.has(other)
                            ? new Finding(
                                    values.has(one) ? one : other,
                                    "'" + one + "' and '" + other + "' belong together: add '"
                                            + (values.has(one) ? other : one) + "'")
                            : null,
                    Map.of("dependentRequired", Map.of(one, List.of(other), other, List.of(one)))));
        }

        public void constraint(Function<Values, @Nullable Finding> problem, Map<String, Object> schema) {
            type.constraints.add(new Constraint(problem, schema));
        }

        private <V> Key<T, V> add(Key<T, V> key) {
            type.keys.put(key.name(), key);
            return key;
        }
    }

    /** Returns the JSON Schema of objects that have this key. */
    public static Map<String, Object> requires(String key) {
        return Map.of("required", List.of(key));
    }

    @Override
    public Node withCurrentNames(Node node, Problems problems) {
        if (!(node instanceof Node.Mapping mapping)) {
            return node;
        }
        Map<String, Node.Entry> entries = new LinkedHashMap<>();
        mapping.entries().forEach((written, entry) -> {
            Renaming renaming = renamed.get(written);
            String current = renaming == null ? written : renaming.current();
            if (renaming != null && mapping.entries().containsKey(current)) {
                problems.error(entry.keyPosition(), renaming.conflict());
                return;
            } else if (renaming != null) {
                problems.warning(entry.keyPosition(), renaming.warning());
            }
            Key<T, ?> key = keys.get(current);
            Node value = key == null ? entry.value() : key.type().withCurrentNames(entry.value(), problems);
            entries.put(current, new Node.Entry(entry.keyPosition(), value));
        });
        return new Node.Mapping(mapping.position(), entries);
    }

    @Override
    public T read(Node node, String label, Scope scope) {
        int errorsBefore = scope.problems.errors();
        Scope quiet = scope;
        Node.Mapping mapping;
        Set<String> meant = Set.of();
        if (node instanceof Node.Mapping written && !hints.isPair(written, keys)) {
            mapping = written;
            meant = reportUnknown(mapping, scope);
        } else {
            String hint = node instanceof Node.Scalar scalar && scalar.isNull()
                    ? label + " has no value: write {} for its defaults, or remove the key"
                    : node instanceof Node.Mapping pair
                            ? "unknown key '"
                                    + MessageText.shorten(
                                            pair.entries().keySet().iterator().next()) + "' in " + described()
                                    + better(node, label, scope)
                            : label + ": expected a mapping (" + described() + example() + "), not "
                                    + describe(node, label) + better(node, label, scope);
            scope.problems.unreadable(node.position(), hint);
            mapping = new Node.Mapping(node.position(), Map.of());
            quiet = scope.quiet();
        }
        Values values = new Values(mapping, quiet, meant, errorsBefore);
        for (Key<T, ?> key : keys.values()) {
            readKey(key, mapping, values, meant.contains(key.name()) ? quiet.quiet() : quiet);
        }
        for (Constraint constraint : constraints) {
            Finding finding = constraint.problem().apply(values);
            if (finding != null && meant.isEmpty()) { // a key that is misspelt may be the one that is missed
                quiet.problems.error(values.at(finding.key()), finding.message());
            }
        }
        T result = constructor.apply(values);
        scope.remember(result, mapping);
        scope.concealed.add(result, concealed(mapping));
        return result;
    }

    private String better(Node node, String label, Scope scope) {
        String better = rewritten(node, label, scope);
        return better == null ? "" : ": write " + better;
    }

    @Override
    @Nullable
    String rewritten(Node node, String label, Scope scope) {
        return hints.rewritten(node, label, scope, keys);
    }

    @Override
    @Nullable
    String around(String key, int depth) {
        return hints.around(key, depth, keys);
    }

    private String example() {
        return keys.isEmpty()
                ? " without keys"
                : " with keys such as '" + keys.keySet().iterator().next() + "'";
    }

    private Set<String> concealed(Node.Mapping mapping) {
        Set<String> found = Set.of();
        for (Map.Entry<String, Node.Entry> entry : mapping.entries().entrySet()) {
            Key<T, ?> key = keys.get(entry.getKey());
            if (key != null && key.type().conceals(entry.getValue().value())) {
                found = new HashSet<>(found);
                found.add(key.name());
            }
        }
        return found;
    }

    private <V> void readKey(Key<T, V> key, Node.Mapping mapping, Values values, Scope scope) {
        Node.Entry entry = mapping.entries().get(key.name());
        if (entry != null) {
            values.put(key, nonNull(key.type().read(entry.value(), key.name(), scope)));
            return;
        }
        switch (key.presence()) {
            case OPTIONAL -> {}
            case DEFAULTED -> {
                if (key.fallback() != null) {
                    values.put(key, key.fallback());
                }
            }
            case SECTION -> values.put(key, nonNull(key.type().read(nothing(mapping), key.name(), scope)));
            case REQUIRED -> {
                String missing = hints.missing(key.name(), mapping);
                scope.problems.error(
                        mapping.position(),
                        described() + " needs '" + key.name() + "'" + (missing == null ? "" : ": write " + missing));
                Scope silent = scope.quiet();
                values.put(key, nonNull(key.type().read(nothing(mapping), key.name(), silent)));
            }
        }
    }

    private static Object nonNull(@Nullable Object value) {
        if (value == null) {
            throw new IllegalStateException("a type returned nothing");
        }
        return value;
    }

    /** Returns the type of a key's value, or null if there is no such key. */
    public @Nullable Type<?> type(String key) {
        Key<T, ?> found = keys.get(key);
        return found == null ? null : found.type();
    }

    /** Reports a key that there is not. */
    public void refuse(String key, Node.Entry entry, Scope scope) {
        reportUnknown(new Node.Mapping(entry.keyPosition(), Map.of(key, entry)), scope);
    }

    private static Node nothing(Node.Mapping parent) {
        return new Node.Mapping(parent.position(), Map.of());
    }

    /** Returns the keys that were probably meant by others that there are not, without those that were written as well. */
    public Set<String> misspelt(Node.Mapping mapping) {
        Set<String> meant = new HashSet<>();
        for (String key : mapping.entries().keySet()) {
            String probable = keys.containsKey(key) || reserved.containsKey(key) ? null : probable(key);
            if (probable != null && !mapping.entries().containsKey(probable)) {
                meant.add(probable);
            }
        }
        return meant;
    }

    private @Nullable String probable(String key) {
        String joined = joined(key);
        return joined != null ? joined : hints.of(key, keys).meant();
    }

    /** Returns the key of what was written without a space after the colon, null if it is not that. */
    private @Nullable String joined(String key) {
        int colon = key.indexOf(':');
        return colon > 0 && keys.containsKey(key.substring(0, colon)) ? key.substring(0, colon) : null;
    }

    /** Returns the keys that were probably meant, without those that were written as well. */
    private Set<String> reportUnknown(Node.Mapping mapping, Scope scope) {
        Set<String> meant = new HashSet<>();
        mapping.entries().forEach((key, entry) -> {
            if (keys.containsKey(key)) {
                return;
            }
            String later = reserved.get(key);
            if (later != null) {
                scope.problems.error(
                        entry.keyPosition(), "'" + key + "' (" + later + ") is not available yet: remove it");
                return;
            }
            String joined = joined(key);
            if (joined != null) { // what follows may be a secret, and is not shown
                scope.problems.error(
                        entry.keyPosition(), "a space is missing after '" + joined + ":': write '" + joined + ": ...'");
                if (!mapping.entries().containsKey(joined)) {
                    meant.add(joined);
                }
                return;
            }
            Hints.Hint hint = hints.of(key, keys);
            Node.Entry right = hint.meant() == null ? null : mapping.entries().get(hint.meant());
            scope.problems.error(
                    entry.keyPosition(),
                    "unknown key '" + MessageText.shorten(key) + "' in " + described()
                            + hint.text(entry.keyPosition(), right));
            if (hint.meant() != null && right == null) {
                meant.add(hint.meant());
            }
        });
        return meant;
    }

    private String described() {
        return (name.matches("[aeiou].*") ? "an " : "a ") + name;
    }

    @Override
    Map<String, Object> schema(Map<String, Object> definitions) {
        String key = definitionName(name);
        if (!definitions.containsKey(key)) {
            definitions.put(key, Map.of()); // keeps the place, and ends recursion
            definitions.put(key, definition(definitions));
        }
        return Map.of("$ref", "#/$defs/" + key);
    }

    /** Returns the schema itself rather than a reference to it. */
    public Map<String, Object> definition(Map<String, Object> definitions) {
        Map<String, Object> properties = new LinkedHashMap<>();
        List<String> required = new ArrayList<>();
        for (Key<T, ?> key : keys.values()) {
            properties.put(key.name(), property(key, definitions));
            if (key.presence() == Key.Presence.REQUIRED) {
                required.add(key.name());
            }
        }
        List<Map<String, Object>> rules =
                new ArrayList<>(constraints.stream().map(Constraint::schema).toList());
        for (Renaming renaming : renamed.values()) {
            properties.put(renaming.former(), former(renaming, definitions));
            if (required.remove(renaming.current())) {
                rules.add(Map.of("oneOf", List.of(requires(renaming.current()), requires(renaming.former()))));
            }
        }
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("description", description);
        schema.put("type", "object");
        schema.put("properties", properties);
        schema.put("additionalProperties", false);
        if (!required.isEmpty()) {
            schema.put("required", required);
        }
        if (!rules.isEmpty()) {
            schema.put("allOf", rules);
        }
        return schema;
    }

    private Map<String, Object> former(Renaming renaming, Map<String, Object> definitions) {
        Key<T, ?> key = keys.get(renaming.current());
        if (key == null) {
            throw new IllegalStateException(described() + " has no key " + renaming.current());
        }
        Map<String, Object> property = new LinkedHashMap<>();
        property.put("description", renaming.description());
        property.put("deprecated", true);
        property.putAll(key.type().schema(definitions));
        return property;
    }

    private static <T, V> Map<String, Object> property(Key<T, V> key, Map<String, Object> definitions) {
        Map<String, Object> property = new LinkedHashMap<>();
        property.put("description", key.description());
        V fallback = key.fallback();
        if (fallback != null) {
            property.put("default", key.type().print(fallback, Concealed.NOTHING));
        } else if (key.presence() == Key.Presence.SECTION) {
            property.put("default", Map.of());
        }
        if (key.effect() != null) {
            property.put("x-reload", key.effect().word());
        }
        property.putAll(key.type().schema(definitions));
        return property;
    }

    @Override
    boolean conceals(Node node) {
        return false; // its keys do
    }

    @Override
    public Object print(T value, Concealed concealed) {
        Map<String, Object> printed = new LinkedHashMap<>();
        for (Key<T, ?> key : keys.values()) {
            Object part = key.print(value, concealed);
            if (part != null) {
                printed.put(key.name(), part);
            }
        }
        return printed;
    }
}
