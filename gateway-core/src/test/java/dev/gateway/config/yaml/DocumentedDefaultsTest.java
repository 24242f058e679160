package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Defaults that pages and the longest example mention are those of the schema. */
class DocumentedDefaultsTest {
    /** A row of a table with keys, defaults and meanings. */
    private static final Pattern ROW = Pattern.compile("\\| ((?:`[\\w.]+`(?:, )?)+) \\| ([^|]+) \\| [^|]+ \\|");

    private static final Pattern CODE = Pattern.compile("`([^`]*)`");

    /** A comment of the example: "default" alone, or with a value that differs from the one shown. */
    private static final Pattern COMMENT =
            Pattern.compile("#\\s+(?:.*; )?default(?: ([\\w.]+|\\[[\\w, ]*]))?(?=[.;,]|$| \\()");

    private static final Pattern DURATION = Pattern.compile("(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+)s)?");

    /** What pages write in place of a value. */
    private static final Map<String, List<String>> WORDS =
            Map.of("no limit", List.of("0s", "0"), "none", List.of("[]", "", "\"\""), "required", List.of("required"));

    private final Map<String, Set<String>> defaults = new TreeMap<>(); // by path
    private final List<String> wrong = new ArrayList<>();
    private int compared;

    DocumentedDefaultsTest() throws IOException {
        JsonNode schema = new ObjectMapper().readTree(ConfigSchema.json());
        collect(schema, schema, "");
    }

    private void collect(JsonNode root, JsonNode schema, String path) {
        if (schema.has("$ref")) {
            collect(root, root.at(schema.get("$ref").textValue().substring(1)), path);
        }
        if (schema.has("items")) {
            collect(root, schema.get("items"), path);
        }
        for (String choice : List.of("anyOf", "oneOf")) {
            schema.path(choice).forEach(one -> collect(root, one, path));
        }
        Set<String> required = new TreeSet<>();
        schema.path("required").forEach(key -> required.add(key.textValue()));
        schema.path("properties").properties().forEach(property -> {
            String key = path + "/" + property.getKey();
            JsonNode value = property.getValue().get("default");
            Set<String> known = defaults.computeIfAbsent(key, each -> new TreeSet<>());
            if (value != null) {
                known.add(text(value));
            } else if (required.contains(property.getKey())) {
                known.add("required");
            }
            collect(root, property.getValue(), key);
        });
    }

    private static String text(JsonNode value) {
        return plain(value.isTextual() ? value.textValue() : value.toString());
    }

    /** Returns a value without quotes and spaces; a duration as seconds, because 75s is 1m15s. */
    private static String plain(String text) {
        String plain = text.replaceAll("[\"' ]", "");
        Matcher duration = DURATION.matcher(plain);
        if (plain.isEmpty() || !duration.matches()) {
            return plain;
        }
        long seconds = 0;
        for (int i = 1; i <= 3; i++) {
            seconds = seconds * 60 + (duration.group(i) == null ? 0 : Long.parseLong(duration.group(i)));
        }
        return seconds + "s";
    }

    /** A key of a table may stand in several places: its default must be that of one of them. */
    @Test
    void tablesOfPagesHaveTheDefaultsOfTheSchema() throws IOException {
        try (Stream<Path> pages = Files.list(Path.of("../docs"))) {
            for (Path page : pages.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList()) {
                boolean inTable = false;
                for (String line : Files.readAllLines(page)) {
                    inTable = line.startsWith("| key | default |") || (inTable && line.startsWith("|"));
                    Matcher row = ROW.matcher(line);
                    if (inTable && row.matches()) {
                        Matcher key = CODE.matcher(row.group(1));
                        List<String> values = values(row.group(2));
                        for (int i = 0; key.find(); i++) {
                            compare(page.getFileName() + ": " + key.group(1), key.group(1), values, i);
                        }
                    }
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(compared).isGreaterThan(35);
    }

    private static List<String> values(String cell) {
        Matcher code = CODE.matcher(cell);
        List<String> values = new ArrayList<>();
        while (code.find()) {
            values.add(plain(code.group(1)));
        }
        return values.isEmpty() || cell.startsWith("required")
                ? List.of(DURATION.matcher(cell).matches() ? plain(cell) : cell)
                : values;
    }

    private void compare(String place, String key, List<String> values, int position) {
        String suffix = "/" + key.replace('.', '/');
        Set<String> known = new TreeSet<>();
        defaults.forEach((path, each) -> {
            if (path.endsWith(suffix)) {
                known.addAll(each.isEmpty() ? Set.of("") : each);
            }
        });
        if (known.isEmpty()) {
            wrong.add(place + " is no key");
            return;
        }
        String value = values.get(Math.min(position, values.size() - 1));
        boolean isValue = (value.matches("[\\w.\\-\\[\\],/]+") && !value.matches("[a-z]+")) || known.contains(value);
        List<String> meant = isValue ? List.of(value) : WORDS.get(value);
        if (meant == null) {
            return; // explained in words
        }
        compared++;
        if (meant.stream().noneMatch(known::contains)) {
            wrong.add(place + ": " + value + ", but the schema says " + known);
        }
    }

    @Test
    void theLongestExampleMarksTheDefaultsOfTheSchema() throws IOException {
        String edge = Files.readString(Path.of("../config/edge.yaml"));
        List<String> lines = edge.lines().toList();
        visit(new Compose(LoadSettings.builder().build()).composeString(edge).orElseThrow(), "", lines);
        assertThat(wrong).isEmpty();
        assertThat(compared).isGreaterThan(70);
    }

    private void visit(Node node, String path, List<String> lines) {
        if (node instanceof MappingNode mapping) {
            for (NodeTuple entry : mapping.getValue()) {
                String key = path + "/" + ((ScalarNode) entry.getKeyNode()).getValue();
                Node value = entry.getValueNode();
                shown(value)
                        .ifPresent(shown -> compare(
                                key,
                                shown,
                                lines.get(value.getStartMark().orElseThrow().getLine())));
                visit(value, key, lines);
            }
        } else if (node instanceof SequenceNode sequence) {
            sequence.getValue().forEach(item -> visit(item, path, lines));
        }
    }

    private static Optional<String> shown(Node value) {
        if (value instanceof ScalarNode scalar) {
            return Optional.of(plain(scalar.getValue()));
        }
        if (value instanceof SequenceNode list && list.getValue().stream().allMatch(ScalarNode.class::isInstance)) {
            return Optional.of(list.getValue().stream()
                    .map(item -> plain(((ScalarNode) item).getValue()))
                    .collect(Collectors.joining(",", "[", "]")));
        }
        return Optional.empty();
    }

    private void compare(String path, String shown, String line) {
        Matcher comment = COMMENT.matcher(line);
        Set<String> known = defaults.getOrDefault(path, Set.of());
        if (!comment.find() || known.isEmpty() || known.contains("required")) {
            return;
        }
        String other = comment.group(1);
        boolean single = line.split("#", 2)[0].split(":\\s", -1).length == 2;
        if (other != null && (!single || WORDS.containsKey(other))) {
            return;
        }
        compared++;
        if (!known.contains(other == null ? shown : plain(other))) {
            wrong.add("edge.yaml " + path + ": " + line.strip() + ", but the schema says " + known);
        }
    }
}
