package dev.gateway.filter.auth;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A line {@code name:rest} of a file of credentials. */
record Line(Path file, int number, String name, String rest) {
    /**
     * Takes a text apart; empty lines and those that begin with {@code #} say nothing.
     *
     * @param faults is told of lines that are none
     */
    static List<Line> of(Path file, String text, List<String> faults) {
        List<Line> lines = new ArrayList<>();
        int number = 0;
        for (String raw : (Iterable<String>) text.lines()::iterator) {
            number++;
            String line = raw.strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            int colon = line.indexOf(':');
            String name = colon < 0 ? "" : line.substring(0, colon).strip();
            if (name.isEmpty() || !name.chars().allMatch(c -> c >= ' ' && c != 0x7f && !(c >= 0x80 && c < 0xa0))) {
                faults.add(file + ":" + number + ": expected a name and a colon");
                continue;
            }
            lines.add(new Line(file, number, name, line.substring(colon + 1).strip()));
        }
        return lines;
    }

    /** Says what is wrong with it, and shows nothing of what it holds but the name. */
    String fault(String problem) {
        return file + ":" + number + ": " + problem;
    }
}
