package dev.gateway.config.yaml.type;

import dev.gateway.config.value.Concealed;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** List type (YAML sequence): any number of values of one type. */
public final class ListType<T> extends Type<List<T>> {
    private final Type<T> element;
    private final int minimum;
    private final boolean distinct;
    private final boolean colons;

    /** Makes the type of lists with so many elements at least. */
    public ListType(Type<T> element, int minimum) {
        this(element, minimum, false, false);
    }

    private ListType(Type<T> element, int minimum, boolean distinct, boolean colons) {
        this.element = element;
        this.minimum = minimum;
        this.distinct = distinct;
        this.colons = colons;
    }

    /** Returns the type of lists of scalars with so many elements at least, none of them twice. */
    public static <T> ListType<T> distinct(ScalarType<T> element, int minimum) {
        return new ListType<>(element, minimum, true, false);
    }

    /** Returns the same type, whose elements others write as one text with colons between them. */
    public ListType<T> withColons() {
        return new ListType<>(element, minimum, distinct, true);
    }

    @Override
    public List<T> read(Node node, String label, Scope scope) {
        List<T> values = new ArrayList<>();
        if (!(node instanceof Node.Sequence sequence)) {
            String better = rewritten(node, label, scope);
            String hint = better == null ? hint(node, label) : ": write " + better;
            scope.problems.unreadable(
                    node.position(), label + ": expected a list, not " + describe(node, label) + hint);
            return values;
        }
        Set<String> texts = new HashSet<>();
        for (Node item : sequence.items()) {
            values.add(element.read(item, label, scope));
            if (distinct && item instanceof Node.Scalar scalar && !texts.add(scalar.text())) {
                scope.problems.error(
                        item.position(), label + ": " + MessageText.quote(scalar.text()) + " for a second time");
            }
        }
        if (values.size() < minimum) {
            scope.problems.error(
                    node.position(), label + " needs at least " + minimum + (minimum == 1 ? " element" : " elements"));
        }
        return values;
    }

    /** Returns what to write instead, as YAML that can be copied. */
    private String hint(Node node, String label) {
        if (node instanceof Node.Scalar scalar && !scalar.isNull() && !Secrets.isSecretName(label)) {
            String text = colons ? scalar.text().replace(':', ',') : scalar.text();
            String list = MessageText.list(text);
            if (list.isEmpty() && colons) {
                list = MessageText.list(text.replaceFirst(",.*", "")).replaceFirst("]$", ", …]");
            }
            return list.isEmpty() ? ": put it in brackets" : ": write " + list;
        } else if (node instanceof Node.Mapping mapping && !(element instanceof ScalarType<T>)) {
            return isInBraces(mapping) ? ": write [{...}]" : ": begin it with '- '";
        }
        return "";
    }

    /** Whether a mapping is written in flow style, in which it begins before its first key. */
    private static boolean isInBraces(Node.Mapping mapping) {
        return mapping.entries().values().stream()
                .noneMatch(entry -> entry.keyPosition().equals(mapping.position()));
    }

    @Override
    @Nullable
    String rewritten(Node node, String label, Scope scope) {
        String only = node instanceof Node.Sequence || element instanceof ScalarType<T>
                ? null
                : element.rewritten(node, label, scope);
        return only == null ? null : "[" + only + "]";
    }

    @Override
    @Nullable
    String around(String key, int depth) {
        String inner = element.around(key, depth);
        return inner == null ? null : "[" + inner + "]";
    }

    @Override
    Node withCurrentNames(Node node, Problems problems) {
        if (!(node instanceof Node.Sequence sequence)) {
            return node;
        }
        List<Node> items = new ArrayList<>();
        for (Node item : sequence.items()) {
            items.add(element.withCurrentNames(item, problems));
        }
        return new Node.Sequence(sequence.position(), items);
    }

    @Override
    Map<String, Object> schema(Map<String, Object> definitions) {
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "array");
        schema.put("items", element.schema(definitions));
        if (minimum > 0) {
            schema.put("minItems", minimum);
        }
        return schema;
    }

    @Override
    boolean conceals(Node node) {
        return node instanceof Node.Sequence sequence
                && sequence.items().stream().anyMatch(element::conceals);
    }

    @Override
    Object print(List<T> value, Concealed concealed) {
        List<Object> printed = new ArrayList<>();
        for (T item : value) {
            printed.add(element.print(item, concealed));
        }
        return printed;
    }
}
