package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.config.LoadResult;
import dev.gateway.config.LoadResult.Valid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

class ExampleConfigsTest {
    static Stream<Path> examples() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("../config"))) {
            return files.filter(file -> file.toString().endsWith(".yaml")).sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void everyExampleLoadsWithoutAWarning(Path file) {
        LoadResult result = ConfigLoader.load(file, Map.of());
        assertThat(result.problems()).isEmpty();
        assertThat(result).isInstanceOf(Valid.class);
    }

    /** A key counts where it stands: as YAML, or in a comment within the section that it belongs to. */
    @Test
    void theLongestExampleShowsEveryKeyWhereItBelongs() throws IOException {
        String edge = Files.readString(Path.of("../config/edge.yaml"));
        Map<String, String> shown = new TreeMap<>();
        collect(new Compose(LoadSettings.builder().build()).composeString(edge).orElseThrow(), 0, "", edge, shown);
        Set<String> wanted = new TreeSet<>();
        JsonNode schema = new ObjectMapper().readTree(ConfigSchema.json());
        paths(schema, schema, "", wanted);
        assertThat(wanted)
                .hasSizeGreaterThan(150)
                .contains("/admin/port", "/routes/rules/filters/requestRedirect/path/type");
        assertThat(wanted.stream().filter(path -> !isShown(path, shown))).isEmpty();
    }

    private static boolean isShown(String path, Map<String, String> shown) {
        if (shown.containsKey(path)) {
            return true;
        }
        String section = path;
        while (!shown.containsKey(section)) {
            section = section.substring(0, section.lastIndexOf('/'));
        }
        String comments = shown.get(section);
        return Stream.of(path.substring(section.length() + 1).split("/", -1))
                .allMatch(key ->
                        Pattern.compile("\\b" + key + ":").matcher(comments).find());
    }

    /** Maps the path of each key to the comments in its section. */
    private static void collect(Node node, int start, String path, String text, Map<String, String> shown) {
        int end = endOfComments(text, node.getEndMark().orElseThrow().getIndex());
        String comments = text.codePoints()
                .skip(start)
                .limit(end - start)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString()
                .lines()
                .filter(line -> line.contains("#"))
                .map(line -> line.substring(line.indexOf('#')))
                .collect(Collectors.joining("\n"));
        shown.merge(path, comments, (one, other) -> one + "\n" + other);
        if (node instanceof MappingNode mapping) {
            for (NodeTuple entry : mapping.getValue()) {
                String key = ((ScalarNode) entry.getKeyNode()).getValue();
                int from = entry.getKeyNode().getEndMark().orElseThrow().getIndex();
                collect(entry.getValueNode(), from, path + "/" + key, text, shown);
            }
        } else if (node instanceof SequenceNode sequence) {
            for (Node item : sequence.getValue()) {
                collect(item, item.getStartMark().orElseThrow().getIndex(), path, text, shown);
            }
        }
    }

    /** Returns where the comments end that follow a value, in its last line and below it. */
    private static int endOfComments(String text, int end) {
        String rest = text.substring(text.offsetByCodePoints(0, end));
        Matcher comments = Pattern.compile("[^\\n]*(\\n *#[^\\n]*)*").matcher(rest);
        return end + (comments.lookingAt() ? rest.codePointCount(0, comments.end()) : 0);
    }

    /** Collects the paths of all keys that the schema knows. */
    private static void paths(JsonNode root, JsonNode schema, String path, Set<String> paths) {
        if (schema.has("$ref")) {
            paths(root, root.at(schema.get("$ref").textValue().substring(1)), path, paths);
        }
        if (schema.has("items")) {
            paths(root, schema.get("items"), path, paths);
        }
        for (String choice : List.of("anyOf", "oneOf")) {
            schema.path(choice).forEach(one -> paths(root, one, path, paths));
        }
        schema.path("properties").properties().forEach(key -> {
            paths.add(path + "/" + key.getKey());
            paths(root, key.getValue(), path + "/" + key.getKey(), paths);
        });
    }

    @ParameterizedTest
    @MethodSource("examples")
    void whatIsPrintedOfAnExampleLoadsAsTheSame(Path file, @TempDir Path directory) throws IOException {
        String printed = ConfigPrinter.yaml(((Valid) ConfigLoader.load(file, Map.of())).config());
        Path copy = Files.writeString(directory.resolve("printed.yaml"), printed);
        LoadResult again = ConfigLoader.load(copy, Map.of());
        assertThat(again.problems()).isEmpty();
        assertThat(ConfigPrinter.yaml(((Valid) again).config())).isEqualTo(printed);
    }
}
