package dev.gateway.config.yaml.type;

import dev.gateway.config.value.Position;
import java.util.List;
import java.util.Map;

/** YAML node: a piece of a YAML document, with its place and without an opinion about types. */
public sealed interface Node {
    Position position();

    /**
     * A value without parts.
     *
     * @param plain whether it was written without quotes, and so may be a number, a boolean or nothing
     */
    record Scalar(Position position, String text, boolean plain) implements Node {
        /** Whether nothing was written where a value belongs. */
        boolean isNull() {
            return plain && (text.isEmpty() || text.equals("~") || text.equalsIgnoreCase("null"));
        }
    }

    /** A list. */
    record Sequence(Position position, List<Node> items) implements Node {}

    /** Keys and their values, in the order of the file. */
    record Mapping(Position position, Map<String, Entry> entries) implements Node {}

    /** One key's place and value. */
    record Entry(Position keyPosition, Node value) {}
}
