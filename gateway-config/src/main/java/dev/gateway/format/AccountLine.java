package dev.gateway.format;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A line {@code name:rest} of a file of accounts. */
record AccountLine(String name, String rest) {
    private static final String BYTE_ORDER_MARK = "\ufeff";

    /** Makes sense of a line. */
    interface Reader {
        /** Returns what is wrong with it, without showing anything of the rest; null if nothing is. */
        @Nullable
        String read(AccountLine line);
    }

    /**
     * Takes a text apart; empty lines and those that begin with {@code #} say nothing.
     *
     * @param file where the text is from, for messages
     * @param expected what each line is, for messages
     * @return what is wrong, each with the file, line and column
     */
    static List<String> readAll(Path file, String text, String expected, Reader reader) {
        List<String> faults = new ArrayList<>();
        int number = 0;
        String content = text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
        for (String raw : (Iterable<String>) content.lines()::iterator) {
            number++;
            String line = raw.strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            int colon = line.indexOf(':');
            String name = colon < 0 ? "" : line.substring(0, colon).strip();
            String problem = name.isEmpty() || name.chars().anyMatch(Character::isISOControl)
                    ? "expected " + expected
                    : reader.read(
                            new AccountLine(name, line.substring(colon + 1).strip()));
            if (problem != null) {
                faults.add(file + ":" + number + ":" + (raw.indexOf(line) + 1) + ": " + problem);
            }
        }
        return List.copyOf(faults);
    }

    /** Hides the rest, which may be a secret. */
    @Override
    public String toString() {
        return name + ":…";
    }
}
