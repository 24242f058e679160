package dev.gateway.tests.support;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a scrape in Prometheus' text format consists of.
 *
 * @param types by the name of the metric, without a histogram's suffixes
 * @param labels by the name of the metric, the bucket's bound left out
 * @param series every sample's name with its labels
 */
public record Exposed(Map<String, String> types, Map<String, Set<String>> labels, Map<String, Double> series) {
    private static final Pattern LABEL = Pattern.compile("([a-zA-Z_]\\w*)=\"(?:[^\"\\\\]|\\\\.)*\"");

    public static Exposed parse(String text) {
        Exposed exposed = new Exposed(new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
        text.lines().forEach(exposed::add);
        return exposed;
    }

    private void add(String line) {
        if (line.startsWith("# TYPE ")) {
            String[] words = line.split(" ");
            types.put(words[2], words[3]);
            labels.put(words[2], new TreeSet<>());
        } else if (!line.startsWith("#")) {
            int space = line.lastIndexOf(' ');
            String sample = line.substring(0, space);
            series.put(sample, Double.valueOf(line.substring(space + 1).replace("Inf", "Infinity")));
            int brace = sample.indexOf('{');
            String name = metric(brace < 0 ? sample : sample.substring(0, brace));
            Matcher label = LABEL.matcher(brace < 0 ? "" : sample.substring(brace));
            while (label.find()) {
                if (!label.group(1).equals("le")) {
                    labels.computeIfAbsent(name, n -> new TreeSet<>()).add(label.group(1));
                }
            }
        }
    }

    /** Returns the name of the metric that a sample is part of. */
    public String metric(String sample) {
        String base = sample.replaceAll("_(bucket|sum|count|max)$", "");
        return types.containsKey(sample) ? sample : base;
    }
}
