package dev.gateway.config.yaml.type;

import dev.gateway.config.value.Concealed;
import dev.gateway.config.value.Position;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A type that also accepts unknown values: mappings whose {@code type} the gateway does not know. It keeps them as they are
 * written, and does not check them.
 */
public final class ForeignType<T> extends Type<T> {
    private static final String TYPE = "type";

    private final Type<T> known;
    private final Foreign<T> foreign;

    /** What becomes of values that are not known. */
    public interface Foreign<T> {
        /** Whether a mapping of this type is unknown, rather than wrong. */
        boolean has(String type);

        /** Makes a value; says what there is to say. */
        T read(Position position, String type, Object written, Scope scope);

        /** Returns what was written, null if the value is a known one. */
        @Nullable
        Object written(T value);
    }

    /** Makes it of what is known, and what becomes of the rest. */
    public ForeignType(Type<T> known, Foreign<T> foreign) {
        this.known = known;
        this.foreign = foreign;
    }

    @Override
    T read(Node node, String label, Scope scope) {
        Node.Scalar type = foreign(node);
        if (type == null || !(node instanceof Node.Mapping mapping)) {
            return known.read(node, label, scope);
        }
        T value = foreign.read(type.position(), type.text(), plain(node, ""), scope);
        scope.remember(Objects.requireNonNull(value), mapping);
        return value;
    }

    /** Returns the type of a value that is not known, null for others. */
    private Node.@Nullable Scalar foreign(Node node) {
        Node.Entry type =
                node instanceof Node.Mapping mapping ? mapping.entries().get(TYPE) : null;
        return type != null && type.value() instanceof Node.Scalar scalar && foreign.has(scalar.text()) ? scalar : null;
    }

    /** Returns what was written, without what may be a secret. */
    private static Object plain(Node node, String label) {
        if (node instanceof Node.Mapping mapping) {
            Map<String, Object> map = new LinkedHashMap<>();
            mapping.entries().forEach((key, entry) -> map.put(key, plain(entry.value(), key)));
            return map;
        } else if (node instanceof Node.Sequence sequence) {
            return sequence.items().stream().map(item -> plain(item, label)).toList();
        }
        Node.Scalar scalar = (Node.Scalar) node;
        if (Secrets.isSecret(label, scalar.text())) {
            return Secrets.MASK;
        } else if (scalar.plain() && scalar.text().matches("true|false")) {
            return Boolean.valueOf(scalar.text());
        }
        return scalar.plain() && scalar.text().matches("0|-?[1-9][0-9]{0,17}")
                ? Long.valueOf(scalar.text())
                : scalar.text();
    }

    @Override
    @Nullable
    String around(String key, int depth) {
        return known.around(key, depth);
    }

    @Override
    Node withCurrentNames(Node node, Problems problems) {
        return foreign(node) == null ? known.withCurrentNames(node, problems) : node;
    }

    @Override
    Map<String, Object> schema(Map<String, Object> definitions) {
        return known.schema(definitions);
    }

    @Override
    Object print(T value, Concealed concealed) {
        Object written = foreign.written(value);
        return written == null ? known.print(value, concealed) : written;
    }

    @Override
    boolean conceals(Node node) {
        return foreign(node) == null && known.conceals(node);
    }
}
