package dev.gateway.config.yaml;

import java.util.Map;

/** One kind of value: how it is read, described to editors and printed. */
abstract class Type<T> {
    /**
     * Reads a value. Whatever is wrong is reported, and something returned all the same, so that one reading finds
     * every problem; it is used for nothing else.
     *
     * @param label the key that the value belongs to
     */
    abstract T read(Node node, String label, Scope scope);

    /** Returns the JSON Schema of the YAML form; definitions are added to those given. */
    abstract Map<String, Object> schema(Map<String, Object> definitions);

    /** Returns the YAML form: a string, number, boolean, list or map. */
    abstract Object print(T value);

    static String describe(Node node) {
        if (node instanceof Node.Sequence) {
            return "a list";
        }
        if (node instanceof Node.Scalar scalar) {
            return scalar.isNull() ? "nothing" : "'" + shorten(scalar.text()) + "'";
        }
        return "a mapping";
    }

    static String shorten(String text) {
        String line = text.replaceAll("\\p{Cntrl}", "?").replaceAll("://[^/@\\s]*@", "://***@");
        return line.length() <= 60 ? line : line.substring(0, 57) + "...";
    }
}
