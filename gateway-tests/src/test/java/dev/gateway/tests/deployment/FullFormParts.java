package dev.gateway.tests.deployment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The table {@code .ci/full/parts}. */
record FullFormParts(Map<String, Part> parts, List<String> paths) {
    /** A part, and the commands that it runs, each split into words. */
    record Part(int minutes, List<List<String>> commands, List<String> paths) {
        /** Returns the classes that the part runs by name. */
        List<String> classes() {
            List<String> classes = new ArrayList<>();
            for (List<String> command : commands) {
                if (command.get(0).equals("tests")) {
                    classes.addAll(List.of(command.get(1).split(",")));
                }
            }
            return classes;
        }

        /** Returns whether the part runs the tests that have its name as a tag. */
        boolean runsTagged() {
            return commands.stream().anyMatch(command -> command.get(0).equals("tagged"));
        }
    }

    static FullFormParts read(Path root) throws IOException {
        Map<String, Part> parts = new LinkedHashMap<>();
        List<String> paths = new ArrayList<>();
        Part last = null;
        for (String line : Files.readAllLines(root.resolve(".ci/full/parts"))) {
            List<String> words = List.of(line.strip().split(" +"));
            List<String> rest = words.subList(1, words.size());
            switch (words.get(0)) {
                case "part" -> {
                    last = new Part(Integer.parseInt(rest.get(1)), new ArrayList<>(), new ArrayList<>());
                    parts.put(rest.get(0), last);
                }
                case "run" -> last.commands().add(rest);
                case "of" -> {
                    last.paths().addAll(rest);
                    paths.addAll(rest);
                }
                case "set" -> paths.addAll(rest.subList(1, rest.size()));
                case "every" -> paths.addAll(rest);
                default -> {
                    if (!words.get(0).matches("|#.*")) {
                        throw new IOException("a line begins with " + words.get(0));
                    }
                }
            }
        }
        return new FullFormParts(
                parts, paths.stream().filter(path -> !path.startsWith("@")).toList());
    }

    /** Returns the parts that run the tests with their tag. */
    Set<String> tags() {
        return parts.entrySet().stream()
                .filter(part -> part.getValue().runsTagged())
                .map(Map.Entry::getKey)
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
