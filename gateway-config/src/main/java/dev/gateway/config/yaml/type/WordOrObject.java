package dev.gateway.config.yaml.type;

import dev.gateway.config.value.Concealed;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Shorthand type (YAML scalar or mapping): a value that a word says, or a mapping where there is more to say. */
public final class WordOrObject<T> extends Type<T> {
    private final ScalarType<T> word;
    private final ObjectType<T> object;
    private final Predicate<T> plain;

    /**
     * Makes the type.
     *
     * @param plain whether a word says all of a value
     */
    public WordOrObject(ScalarType<T> word, ObjectType<T> object, Predicate<T> plain) {
        this.word = word;
        this.object = object;
        this.plain = plain;
    }

    private Type<T> of(Node node) {
        return node instanceof Node.Mapping ? object : word;
    }

    @Override
    T read(Node node, String label, Scope scope) {
        return of(node).read(node, label, scope);
    }

    @Override
    @Nullable
    String around(String key, int depth) {
        return object.around(key, depth);
    }

    @Override
    Node withCurrentNames(Node node, Problems problems) {
        return of(node).withCurrentNames(node, problems);
    }

    @Override
    Map<String, Object> schema(Map<String, Object> definitions) {
        return Map.of("anyOf", List.of(word.schema(definitions), object.schema(definitions)));
    }

    @Override
    Object print(T value, Concealed concealed) {
        return plain.test(value) ? word.print(value, concealed) : object.print(value, concealed);
    }

    @Override
    boolean conceals(Node node) {
        return of(node).conceals(node);
    }
}
