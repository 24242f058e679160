package dev.gateway.config.yaml.type;

import dev.gateway.config.value.Concealed;
import dev.gateway.config.value.Position;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Scalar type: a value that is written as one scalar, and may hold environment variables. */
public final class ScalarType<T> extends Type<T> {
    /** A string that holds an environment variable: a schema cannot know what it stands for. */
    private static final Map<String, Object> VARIABLE = Map.of(
            "type", "string",
            "pattern", "\\$\\{",
            "description", "An environment variable: ${NAME} or ${NAME:-default}.");

    private final Form form;
    private final Map<String, Object> schema;
    private final T placeholder;
    private final Parser<T> parser;
    private final Function<T, Object> printer;
    private final boolean free;
    private final Name name;
    private final String ofList; // what follows the message about a list, empty for what is said of all types

    /**
     * What the JSON Schema and the documentation call a type; empty for one that explains itself, such as a number.
     *
     * @param text one or more words, as "host name"
     */
    private record Name(String text, String description) {
        static final Name NONE = new Name("", "");
    }

    /** Makes a type whose values are not free text. */
    public ScalarType(
            Form form, Map<String, Object> schema, T placeholder, Parser<T> parser, Function<T, Object> printer) {
        this(form, schema, placeholder, parser, printer, false);
    }

    /**
     * Makes a type.
     *
     * @param free whether a secret may be part of such a value: it is free text, and not a name, a number or a place
     */
    public ScalarType(
            Form form,
            Map<String, Object> schema,
            T placeholder,
            Parser<T> parser,
            Function<T, Object> printer,
            boolean free) {
        this(form, schema, placeholder, parser, printer, free, Name.NONE, "");
    }

    private ScalarType(
            Form form,
            Map<String, Object> schema,
            T placeholder,
            Parser<T> parser,
            Function<T, Object> printer,
            boolean free,
            Name name,
            String ofList) {
        this.name = name;
        this.ofList = ofList;
        this.free = free;
        this.form = form;
        this.schema = schema;
        this.placeholder = placeholder;
        this.parser = parser;
        this.printer = printer;
    }

    /**
     * Returns the same type with a name, under which the JSON Schema defines it once.
     *
     * @param words one or more, as "host name"
     * @param description how such a value is written, in a sentence
     */
    public ScalarType<T> named(String words, String description) {
        return new ScalarType<>(form, schema, placeholder, parser, printer, free, new Name(words, description), ofList);
    }

    /**
     * Returns the same type that says what to write in place of a list.
     *
     * @param instead as "write one match for each"
     */
    public ScalarType<T> alone(String instead) {
        return new ScalarType<>(form, schema, placeholder, parser, printer, free, name, ": " + instead);
    }

    /**
     * Returns the same type that says more about a text that it refuses.
     *
     * @param hint returns what follows the message, empty if there is nothing to say
     */
    public ScalarType<T> explained(Function<String, String> hint) {
        return new ScalarType<>(
                form,
                schema,
                placeholder,
                (text, site) -> {
                    try {
                        return parser.parse(text, site);
                    } catch (InvalidException e) {
                        throw new InvalidException(e.getMessage() + hint.apply(text));
                    }
                },
                printer,
                free,
                name,
                ofList);
    }

    /** How YAML writes it. */
    public enum Form {
        /** With or without quotes. */
        TEXT,
        /** Without quotes. */
        BARE
    }

    /** Where a scalar stands. */
    public record Site(Position position, String label, Scope scope) {}

    /** Turns text into a value. */
    public interface Parser<T> {
        public T parse(String text, Site site) throws InvalidException;
    }

    /** Returns what a text stands for, its variables already replaced. */
    public T parse(String text, Site site) throws InvalidException {
        return parser.parse(text, site);
    }

    @Override
    T read(Node node, String label, Scope scope) {
        if (!(node instanceof Node.Scalar scalar)) {
            String better = rewritten(node, label, scope);
            scope.problems.unreadable(
                    node.position(),
                    label + ": expected a single value, not " + describe(node, label)
                            + (better != null ? ": write " + better : node instanceof Node.Sequence ? ofList : ""));
            return placeholder;
        }
        if (scalar.isNull()) {
            scope.problems.unreadable(scalar.position(), label + " has no value: write one, or remove the key");
            return placeholder;
        }
        try {
            T value = parse(scalar, scope.variables.replace(scalar.text()), label, scope);
            if (form == Form.BARE && !scalar.plain() && !Variables.in(scalar.text())) {
                throw new InvalidException("write it without quotes: " + MessageText.shorten(scalar.text()));
            }
            return value;
        } catch (InvalidException e) {
            scope.problems.unreadable(scalar.position(), label + ": " + e.getMessage());
            return placeholder;
        }
    }

    /** What stood in an environment variable is not shown, only which variable it was. */
    private T parse(Node.Scalar scalar, String text, String label, Scope scope) throws InvalidException {
        try {
            return parser.parse(text, new Site(scalar.position(), label, scope));
        } catch (InvalidException e) {
            if (!Variables.in(scalar.text())) {
                throw e;
            }
            throw new InvalidException(e.withoutValue() + " (not shown, because it comes from "
                    + String.join(", ", Variables.names(scalar.text())) + ")");
        }
    }

    /** The only scalar of a list or a mapping was meant. No free text inside these is shown, as it may be a secret. */
    @Override
    @Nullable
    String rewritten(Node node, String label, Scope scope) {
        if (Secrets.isSecretName(label) || (free && !(node instanceof Node.Scalar))) {
            return null;
        } else if (node instanceof Node.Sequence list && list.items().size() == 1) {
            return rewritten(list.items().get(0), label, scope);
        } else if (node instanceof Node.Mapping mapping && mapping.entries().size() == 1) {
            Map.Entry<String, Node.Entry> only =
                    mapping.entries().entrySet().iterator().next();
            return rewritten(only.getValue().value(), only.getKey(), scope);
        }
        return node instanceof Node.Scalar scalar && accepts(scalar, label, scope)
                ? MessageText.scalar(scalar.text())
                : null;
    }

    /** Whether it is written without quotes. */
    boolean isBare() {
        return form == Form.BARE;
    }

    /** Whether a scalar stands for a value of this type. */
    boolean accepts(Node.Scalar scalar, String label, Scope scope) {
        try {
            if (scalar.isNull() || (form == Form.BARE && !scalar.plain())) {
                return false;
            }
            parser.parse(scope.variables.replace(scalar.text()), new Site(scalar.position(), label, scope.quiet()));
            return true;
        } catch (InvalidException e) {
            return false;
        }
    }

    @Override
    Map<String, Object> schema(Map<String, Object> definitions) {
        definitions.put("Variable", VARIABLE);
        List<Map<String, Object>> choice = List.of(schema, Map.of("$ref", "#/$defs/Variable"));
        if (name.equals(Name.NONE)) {
            return Map.of("anyOf", choice);
        }
        String key = definitionName(name.text());
        Map<String, Object> definition = new LinkedHashMap<>();
        definition.put("description", name.description());
        definition.put("anyOf", choice);
        definitions.put(key, definition);
        return Map.of("$ref", "#/$defs/" + key);
    }

    @Override
    boolean conceals(Node node) {
        return free && node instanceof Node.Scalar scalar && Variables.in(scalar.text());
    }

    @Override
    public Object print(T value, Concealed concealed) {
        return printer.apply(value);
    }
}
