package dev.gateway.config.yaml.type;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.Problem;
import dev.gateway.config.value.Concealed;
import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A key that was renamed works under its former name for a while, with a warning. */
class RenamedKeysTest {
    private record Inner(int count) {}

    private record Outer(List<Inner> parts, int size) {}

    private static final ObjectType<Inner> INNER = ObjectType.of("part", "A part.", o -> {
        var count = o.required("count", Types.integer(0, 9), Inner::count, "How many.");
        o.renamed("number", "count", "0.2");
        return v -> new Inner(v.get(count));
    });

    private static final ObjectType<Outer> OUTER = ObjectType.of("whole", "A whole.", o -> {
        var parts = o.defaulted("parts", new ListType<>(INNER, 0), List.of(), Outer::parts, "The parts.");
        var size = o.defaulted("size", Types.integer(0, 9), 1, Outer::size, "How large.");
        o.renamed("pieces", "parts", "0.2");
        o.renamed("extent", "size", "1.9");
        return v -> new Outer(v.get(parts), v.get(size));
    });

    private final Problems problems = new Problems();

    private static Position at(int line, int column) {
        return new Position("gateway.yaml", line, column);
    }

    private static Node.Scalar number(String text) {
        return new Node.Scalar(at(9, 9), text, true);
    }

    private static Node.Mapping mapping(Object... keysAndValues) {
        Map<String, Node.Entry> entries = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            Position place = at(i / 2 + 1, 3);
            entries.put((String) keysAndValues[i], new Node.Entry(place, (Node) keysAndValues[i + 1]));
        }
        return new Node.Mapping(at(1, 1), entries);
    }

    private Outer read(Node node) {
        Scope scope = new Scope(problems, new Variables(Map.of()), Path.of("."), Instant.EPOCH);
        return OUTER.read(OUTER.withCurrentNames(node, problems), "the file", scope);
    }

    private List<String> found() {
        return problems.inOrder().stream().map(Problem::toString).toList();
    }

    @Test
    void aFormerNameWorksAndWarns() {
        assertThat(read(mapping("extent", number("7"))).size()).isEqualTo(7);
        assertThat(found())
                .containsExactly("gateway.yaml:1:3: warning: 'extent' is called 'size' since 1.9; it will be refused"
                        + " from 1.10");
        assertThat(problems.hasErrors()).isFalse();
    }

    @Test
    void formerNamesWorkInObjectsOfListsUnderFormerNames() {
        Node parts =
                new Node.Sequence(at(2, 5), List.of(mapping("number", number("3")), mapping("count", number("4"))));
        assertThat(read(mapping("pieces", parts)).parts()).containsExactly(new Inner(3), new Inner(4));
        assertThat(found())
                .containsExactly(
                        "gateway.yaml:1:3: warning: 'pieces' is called 'parts' since 0.2; it will be refused from 0.3",
                        "gateway.yaml:1:3: warning: 'number' is called 'count' since 0.2; it will be refused from 0.3");
    }

    @Test
    void bothNamesAreAnErrorWhateverTheirOrder() {
        assertThat(read(mapping("size", number("2"), "extent", number("7"))).size())
                .isEqualTo(2);
        read(mapping("extent", number("7"), "size", number("2")));
        assertThat(found())
                .containsExactly(
                        "gateway.yaml:1:3: 'extent' is the former name of 'size', which is here too: remove 'extent'",
                        "gateway.yaml:2:3: 'extent' is the former name of 'size', which is here too: remove 'extent'");
        assertThat(problems.hasErrors()).isTrue();
    }

    @Test
    void aCurrentNameDoesNotWarn() {
        read(mapping("size", number("2")));
        assertThat(found()).isEmpty();
    }

    @Test
    void messagesAboutAValueStandWhereItWasWritten() {
        read(mapping("extent", number("70")));
        assertThat(found()).anyMatch(line -> line.startsWith("gateway.yaml:9:9: size: expected a whole number"));
    }

    @Test
    void whatIsPrintedHasTheCurrentName() {
        assertThat(OUTER.print(read(mapping("extent", number("7"))), Concealed.NOTHING))
                .isEqualTo(Map.of("parts", List.of(), "size", 7));
    }

    @Test
    @SuppressWarnings("unchecked")
    void editorsSeeTheFormerNameAsDeprecated() {
        Map<String, Object> schema = INNER.definition(new LinkedHashMap<>());
        Map<String, Map<String, Object>> properties =
                (Map<String, Map<String, Object>>) Objects.requireNonNull(schema.get("properties"));
        assertThat(properties.get("count")).doesNotContainKey("deprecated");
        assertThat(properties.get("number"))
                .containsEntry("deprecated", true)
                .containsEntry("description", "Called count since 0.2. 0.3 refuses this name.")
                .containsKey("anyOf");
        assertThat(schema).doesNotContainKey("required");
        assertThat(schema)
                .containsEntry(
                        "allOf",
                        List.of(Map.of("oneOf", List.of(ObjectType.requires("count"), ObjectType.requires("number")))));
    }

    @Test
    void aVersionHasTwoNumbers() {
        assertThatThrownBy(() -> new Renaming("old", "new", "2")).hasMessageContaining("a version such as 0.2");
    }
}
