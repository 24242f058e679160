package dev.gateway.config.yaml.type;

import dev.gateway.config.value.Concealed;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One kind of value: how it is read, described to editors and printed. */
public abstract class Type<T> {
    /**
     * Reads a value. Whatever is wrong is reported, and something returned all the same, so that one reading finds
     * every problem; it is used for nothing else.
     *
     * @param label the key that the value belongs to
     */
    abstract T read(Node node, String label, Scope scope);

    /**
     * Returns a value whose keys have their current names. Warns of each former name, and reports an error where an
     * object has both names of a key.
     */
    Node withCurrentNames(Node node, Problems problems) {
        return node;
    }

    /**
     * Returns how something that was written in another form is written as a value of this type, for a hint; null if that
     * is not clear.
     */
    @Nullable
    String rewritten(Node node, String label, Scope scope) {
        return null;
    }

    /**
     * Returns how a key is written inside a value of this type, for a hint; null if it has no such key, or several.
     *
     * @param depth how many mappings may be around that which has the key
     */
    @Nullable
    String around(String key, int depth) {
        return null;
    }

    /** Returns the JSON Schema of the YAML form; definitions are added to those given. */
    abstract Map<String, Object> schema(Map<String, Object> definitions);

    /** Returns the YAML form: a string, number, boolean, list or map, without what must not be shown. */
    abstract Object print(T value, Concealed concealed);

    /** Whether what was written has environment variables in a place where a secret may stand. */
    abstract boolean conceals(Node node);

    /** Returns the key of a definition in a JSON Schema: "hostName" for "host name". */
    static String definitionName(String name) {
        StringBuilder words = new StringBuilder();
        for (String word : name.split(" ")) {
            words.append(words.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return words.toString();
    }

    static String describe(Node node, String label) {
        if (node instanceof Node.Sequence) {
            return "a list";
        }
        if (node instanceof Node.Scalar scalar) {
            return scalar.isNull()
                    ? "nothing"
                    : Secrets.isSecretName(label) ? "a single value" : MessageText.quote(scalar.text());
        }
        return "a mapping";
    }
}
