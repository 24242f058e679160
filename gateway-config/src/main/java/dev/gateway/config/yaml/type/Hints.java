package dev.gateway.config.yaml.type;

import dev.gateway.config.value.Position;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What an object tells those who write it as other products do, or in another form. */
final class Hints {
    /** How many mappings may be between an object and the one that has a key which was written in it. */
    private static final int DEPTH = 2;

    /** What others call a part of a pair, so that it is not a name of the user's. */
    private static final Set<String> PART_NAMES =
            Set.of("key", "header", "field", "headerName", "claim", "value", "type");

    /** Stands for what belongs there. */
    private static final String VALUE = "…";

    private final Map<String, String> foreign = new HashMap<>(); // by plain word: a key, or a hint
    private final Map<String, String> with = new HashMap<>(); // by key: what has to be written with it
    private Function<String, @Nullable String> pattern = text -> null; // the same for words without a list
    private @Nullable String whole; // in the place of any single value
    private @Nullable String single;
    private Function<String, @Nullable String> other = text -> null;
    private List<String> pair = List.of();

    /**
     * What is said about a key that the object does not have.
     *
     * @param text follows the message
     * @param meant the key that was probably meant, so that it is not reported as missing too; null if unknown
     */
    record Hint(String text, @Nullable String meant) {
        /**
         * Returns the text, with the place where the key that was probably meant stands as well.
         *
         * @param written where the text belongs
         * @param right that key, null if it does not stand there
         */
        String text(Position written, Node.@Nullable Entry right) {
            Position taken = right == null ? null : taken(written, right);
            return taken == null || !text.endsWith("?")
                    ? text
                    : text.substring(0, text.length() - 1) + ", which is already in " + taken.seenFrom(written) + "?";
        }

        /** Each of several files may have a list of a name, and they are joined: only one of the same file is in the way. */
        private static @Nullable Position taken(Position written, Node.Entry right) {
            if (right.keyPosition().file().equals(written.file()) || !(right.value() instanceof Node.Sequence list)) {
                return right.keyPosition();
            }
            return list.items().stream()
                    .map(Node::position)
                    .filter(item -> item.file().equals(written.file()))
                    .findFirst()
                    .orElse(null);
        }
    }

    void foreign(String words, String meant) {
        for (String word : words.split(" ")) {
            foreign.put(Suggestions.plain(word), meant);
        }
    }

    void foreign(Function<String, @Nullable String> hint) {
        pattern = hint;
    }

    void single(String key) {
        single = key;
    }

    void single(Function<String, @Nullable String> rewritten) {
        other = rewritten;
    }

    void whole(String example) {
        whole = example;
    }

    void pair(String first, String second) {
        pair = List.of(first, second);
    }

    void with(String key, String other) {
        with.put(key, other);
    }

    /** Returns a key that is missing with the value that another key shows, null if none does. */
    @Nullable
    String missing(String key, Node.Mapping mapping) {
        List<String> shown = mapping.entries().keySet().stream()
                .map(each -> with.getOrDefault(each, ""))
                .filter(each -> each.startsWith(key + ": "))
                .toList();
        return shown.size() == 1 ? shown.get(0) : null;
    }

    /** Returns what to say about a key that the object does not have. */
    Hint of(String written, Map<String, ? extends Key<?, ?>> keys) {
        String ours = foreign.get(Suggestions.plain(written));
        if (ours == null) {
            ours = pattern.apply(written);
        }
        if (ours == null) {
            ours = Suggestions.foreign(written, keys.keySet());
        }
        if (ours != null) {
            return new Hint(Suggestions.hint(ours, keys.keySet()), named(ours, keys));
        }
        for (int depth = 0; depth < DEPTH; depth++) {
            String near = depth == 0 ? null : Suggestions.nearest(written, keys.keySet());
            if (near != null) {
                return new Hint(Suggestions.hint(near, keys.keySet()), near);
            }
            Hint inside = inside(written, depth, keys);
            if (inside != null) {
                return inside;
            }
        }
        return new Hint(
                keys.isEmpty() ? ": it has no keys" : ": expected one of " + String.join(", ", keys.keySet()), null);
    }

    /** Returns the key that a hint begins with, null if it begins otherwise. */
    private static @Nullable String named(String hint, Map<String, ? extends Key<?, ?>> keys) {
        String key = hint.replaceFirst("^write ", "").replaceFirst(":.*", "");
        return keys.containsKey(key) ? key : null;
    }

    /** A key belongs into the value of another, if there is only one such place. */
    private static @Nullable Hint inside(String written, int depth, Map<String, ? extends Key<?, ?>> keys) {
        Hint found = null;
        for (Key<?, ?> key : keys.values()) {
            String inner = key.type().around(written, depth);
            if (inner != null && found != null) {
                return null;
            } else if (inner != null) {
                found = new Hint(": write " + key.name() + ": " + inner, key.name());
            }
        }
        return found;
    }

    /** See {@link Type#around}. */
    @Nullable
    String around(String written, int depth, Map<String, ? extends Key<?, ?>> keys) {
        String other = with.get(written);
        if (keys.containsKey(written)) {
            return "{" + (other == null ? "" : other + ", ") + written + ": " + VALUE + "}";
        }
        Hint inside = depth == 0 ? null : inside(written, depth - 1, keys);
        return inside == null ? null : "{" + inside.text().substring(": write ".length()) + "}";
    }

    /** See {@link Type#rewritten}. */
    @Nullable
    String rewritten(Node node, String label, Scope scope, Map<String, ? extends Key<?, ?>> keys) {
        if (node instanceof Node.Scalar scalar && !scalar.isNull()) {
            if (whole != null) {
                return Types.isOff(scalar.text()) ? null : whole;
            }
            return keys.containsKey(scalar.text())
                    ? flag(keys.get(scalar.text()), scalar, scope)
                    : Secrets.isSecretName(label) ? null : word(scalar, scope, keys);
        }
        return node instanceof Node.Mapping mapping ? pairs(mapping, keys) : null;
    }

    /** The word is the name of a key, and perhaps all there is to say. */
    private static String flag(Key<?, ?> key, Node.Scalar word, Scope scope) {
        Node.Scalar yes = new Node.Scalar(word.position(), "true", true);
        boolean complete = key.type() instanceof ScalarType<?> type && type.isBare() && type.accepts(yes, "", scope);
        return "{" + key.name() + ": " + (complete ? "true" : VALUE) + "}";
    }

    private @Nullable String word(Node.Scalar word, Scope scope, Map<String, ? extends Key<?, ?>> keys) {
        if (!pair.isEmpty()) {
            String[] parts = word.text().split(": *", 2);
            return parts.length == 2 ? pair(parts[0], parts[1], keys) : pair(word.text(), null, keys);
        }
        String rewritten = other.apply(word.text());
        if (rewritten != null) {
            return rewritten;
        }
        Key<?, ?> key = single == null ? required(keys) : keys.get(single);
        String value = key == null ? null : key.type().rewritten(word, key.name(), scope);
        if (key != null && value != null) {
            return "{" + key.name() + ": " + value + "}";
        }
        boolean optional = keys.values().stream().noneMatch(each -> each.presence() == Key.Presence.REQUIRED);
        return optional && word.text().equals("true") ? "{} for its defaults" : null;
    }

    /** Returns the key that has to be written, null if there are several or none. */
    private static @Nullable Key<?, ?> required(Map<String, ? extends Key<?, ?>> keys) {
        Key<?, ?> found = null;
        for (Key<?, ?> key : keys.values()) {
            if (key.presence() == Key.Presence.REQUIRED) {
                if (found != null) {
                    return null;
                }
                found = key;
            }
        }
        return found;
    }

    /** Whether a mapping is a name with a value, in place of an object that has a key for each. */
    boolean isPair(Node.Mapping mapping, Map<String, ? extends Key<?, ?>> keys) {
        return mapping.entries().size() == 1
                && !PART_NAMES.contains(mapping.entries().keySet().iterator().next())
                && mapping.entries().values().iterator().next().value() instanceof Node.Scalar
                && mapping.entries().keySet().stream()
                        .noneMatch(key -> keys.containsKey(key) || Suggestions.nearest(key, keys.keySet()) != null)
                && pairs(mapping, keys) != null;
    }

    /** Returns a list without its brackets, of a mapping whose keys are names of the user's. */
    private @Nullable String pairs(Node.Mapping mapping, Map<String, ? extends Key<?, ?>> keys) {
        Map.Entry<String, Node.Entry> first = mapping.entries().isEmpty()
                ? null
                : mapping.entries().entrySet().iterator().next();
        return first == null || pair.isEmpty() || keys.containsKey(first.getKey())
                ? null
                : pair(first.getKey(), first.getValue().value() instanceof Node.Scalar value ? value.text() : "", keys)
                        + (mapping.entries().size() > 1 ? ", " + VALUE : "");
    }

    private String pair(String name, @Nullable String value, Map<String, ? extends Key<?, ?>> keys) {
        Key<?, ?> second = keys.get(pair.get(1));
        String start = "{" + pair.get(0) + ": " + MessageText.scalar(name);
        if (second == null || (value == null && second.presence() == Key.Presence.DEFAULTED)) {
            return start + "}";
        }
        String shown = value == null
                        || value.isEmpty()
                        || Secrets.isSecret(name, value)
                        || value.matches("(?is)(bearer|basic) .*")
                ? VALUE
                : MessageText.scalar(value);
        return start + ", " + second.name() + ": " + (second.type() instanceof ListType<?> ? "[" + shown + "]" : shown)
                + "}";
    }
}
