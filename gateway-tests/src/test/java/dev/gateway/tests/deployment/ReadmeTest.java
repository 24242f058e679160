package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** README stays short, and shows no figure of speed that {@code docs/speed.md} does not have. */
class ReadmeTest {
    private static final Path README = Path.of("../README.md");
    private static final Path SPEED = Path.of("../docs/speed.md");

    /** Longer explanations belong in {@code docs}. */
    private static final int MAX_LINES = 250;

    private static final String WORKLOAD = "workload";
    private static final String RATIO = "ratio to nginx";

    /** A ratio, or the lowest and the highest of several. */
    private static final Pattern RATIOS = Pattern.compile("\\d+\\.\\d+(–\\d+\\.\\d+)?");

    @Test
    void itIsShort() throws IOException {
        assertThat(Files.readAllLines(README)).hasSizeLessThanOrEqualTo(MAX_LINES);
    }

    @Test
    void eachFigureOfItsSpeedTableIsAMeasuredRatioOfTheWorkload() throws IOException {
        Map<String, Set<String>> measured = measuredRatios();
        List<Map<String, String>> rows = tables(README).stream()
                .flatMap(List::stream)
                .filter(row -> row.containsKey(WORKLOAD))
                .toList();

        assertThat(rows).isNotEmpty();
        for (Map<String, String> row : rows) {
            List<String> shown = row.values().stream()
                    .filter(RATIOS.asMatchPredicate())
                    .flatMap(Pattern.compile("–")::splitAsStream)
                    .toList();
            assertThat(shown).as("figures of %s", row).isNotEmpty();
            assertThat(measured).containsKey(row.get(WORKLOAD));
            assertThat(measured.get(row.get(WORKLOAD)))
                    .as("ratios of %s in speed.md", row.get(WORKLOAD))
                    .containsAll(shown);
        }
    }

    /** Returns the ratios by workload. The first row of a workload is its CPU time; further ones are other figures. */
    private static Map<String, Set<String>> measuredRatios() throws IOException {
        Map<String, Set<String>> ratios = new TreeMap<>();
        for (List<Map<String, String>> table : tables(SPEED)) {
            Map<String, String> costs = new TreeMap<>();
            for (Map<String, String> row : table) {
                if (row.containsKey(WORKLOAD) && row.containsKey(RATIO)) {
                    costs.putIfAbsent(row.get(WORKLOAD), row.get(RATIO));
                }
            }
            costs.forEach((workload, ratio) ->
                    ratios.computeIfAbsent(workload, each -> new HashSet<>()).add(ratio));
        }
        return ratios;
    }

    /** Returns the tables of a document. A row has its cells by the headings of their columns. */
    private static List<List<Map<String, String>>> tables(Path document) throws IOException {
        List<List<Map<String, String>>> tables = new ArrayList<>();
        List<String> headings = List.of();
        for (String line : Files.readAllLines(document)) {
            if (!line.startsWith("|")) {
                headings = List.of();
            } else if (headings.isEmpty()) {
                headings = cells(line);
                tables.add(new ArrayList<>());
            } else if (!line.startsWith("|---")) {
                tables.get(tables.size() - 1).add(row(headings, cells(line)));
            }
        }
        return tables;
    }

    private static Map<String, String> row(List<String> headings, List<String> cells) {
        assertThat(cells).as("cells below %s", headings).hasSameSizeAs(headings);
        Map<String, String> row = new LinkedHashMap<>();
        for (int i = 0; i < cells.size(); i++) {
            row.put(headings.get(i), cells.get(i));
        }
        return row;
    }

    private static List<String> cells(String line) {
        return Arrays.stream(line.substring(1, line.lastIndexOf('|')).split("\\|", -1))
                .map(String::strip)
                .toList();
    }
}
