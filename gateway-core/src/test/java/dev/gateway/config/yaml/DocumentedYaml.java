package dev.gateway.config.yaml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A fenced YAML block of a document. A block with listeners, and routes or connect, is a whole configuration. Any other is
 * a part of one, and {@code frames/sections.yaml} has the sections that it lacks. A comment in the line above, which readers
 * of the page do not see, says what else a block is:
 *
 * <ul>
 *   <li>{@code <!-- configuration: part of rule -->}: the inside of a rule; {@code frames/rule.yaml} is around it. The other
 *       files in {@code frames} have their use in the same way;
 *   <li>{@code <!-- configuration: in values -->}: values of the chart, with a configuration as {@code config};
 *   <li>{@code <!-- configuration: invalid -->}: has the mistakes that the page shows;
 *   <li>{@code <!-- configuration: no -->}: YAML for another program.
 * </ul>
 *
 * @param place the document and the line of the block
 * @param marker what the comment says, empty without one
 * @param yaml the block, or the file whose contents the site shows in its place
 */
record DocumentedYaml(String place, String marker, String yaml) {
    static final Path TOP = Path.of("..");

    private static final Path FRAMES = Path.of("src/test/resources/frames");
    private static final Pattern BLOCK = Pattern.compile(
            "(?:<!-- configuration: ([a-z ]+) -->\\n)?^( *)```ya?ml[^\\n]*\\n(.*?)^\\2```",
            Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern SNIPPET = Pattern.compile("--8<-- \"([^\"]+)\"");
    private static final Pattern SECTION = Pattern.compile("^([a-zA-Z]+):.*\\n(?:(?:[ #].*)?\\n)*", Pattern.MULTILINE);

    /** Returns the documents that users read: README, and all that is in {@code deploy} and {@code docs}. */
    static List<Path> documents() throws IOException {
        List<Path> found = new ArrayList<>(List.of(TOP.resolve("README.md")));
        for (String directory : List.of("deploy", "docs")) {
            try (Stream<Path> files = Files.walk(TOP.resolve(directory))) {
                files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(found::add);
            }
        }
        return found;
    }

    /** Returns all blocks of all documents. */
    static List<DocumentedYaml> all() throws IOException {
        List<DocumentedYaml> found = new ArrayList<>();
        for (Path document : documents()) {
            String text = Files.readString(document);
            Matcher block = BLOCK.matcher(text);
            while (block.find()) {
                long line = text.substring(0, block.start(3)).lines().count();
                String marker = block.group(1) == null ? "" : block.group(1);
                String yaml = block.group(3)
                        .lines()
                        .map(each -> shown(each, block.group(2)))
                        .collect(Collectors.joining());
                found.add(new DocumentedYaml(TOP.relativize(document) + ":" + line, marker, yaml));
            }
        }
        return found;
    }

    private static String shown(String line, String indent) {
        String plain = line.startsWith(indent) ? line.substring(indent.length()) : line;
        Matcher snippet = SNIPPET.matcher(plain);
        try {
            return snippet.matches() ? Files.readString(TOP.resolve(snippet.group(1))) : plain + "\n";
        } catch (IOException e) {
            throw new IllegalStateException(plain + " names a file that cannot be read", e);
        }
    }

    boolean isConfiguration() {
        return !marker.equals("no");
    }

    boolean isInvalid() {
        return marker.equals("invalid");
    }

    /** Whether it is all that a gateway needs. */
    boolean isWhole() {
        var sections = sections(yaml);
        return marker.isEmpty()
                && sections.containsKey("listeners")
                && (sections.containsKey("routes") || sections.containsKey("connect"));
    }

    /** Returns a whole configuration: the block, or the block in its frame. */
    String completed() throws IOException {
        if (isWhole() || isInvalid()) {
            return yaml;
        }
        if (marker.equals("in values")) {
            return inValues();
        }
        if (marker.startsWith("part of ")) {
            return framed(Files.readString(FRAMES.resolve(marker.substring("part of ".length()) + ".yaml")));
        }
        Map<String, String> sections = sections(Files.readString(FRAMES.resolve("sections.yaml")));
        sections.keySet().removeAll(sections(yaml).keySet());
        return yaml + String.join("", sections.values());
    }

    /** Returns what is below {@code config:}; the chart's directory of Secrets becomes a relative one. */
    private String inValues() {
        return yaml.lines()
                .dropWhile(line -> !line.equals("config:"))
                .skip(1)
                .takeWhile(line -> line.startsWith("  "))
                .map(line -> line.substring(2).replace("/etc/gateway-secrets/", "") + "\n")
                .collect(Collectors.joining());
    }

    private String framed(String frame) {
        return frame.lines()
                .flatMap(line -> line.strip().equals("PART")
                        ? yaml.lines().map(part -> line.substring(0, line.indexOf("PART")) + part)
                        : Stream.of(line))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private static Map<String, String> sections(String yaml) {
        Map<String, String> sections = new LinkedHashMap<>();
        Matcher section = SECTION.matcher(yaml);
        while (section.find()) {
            sections.put(section.group(1), section.group());
        }
        return sections;
    }

    @Override
    public String toString() {
        return place;
    }
}
