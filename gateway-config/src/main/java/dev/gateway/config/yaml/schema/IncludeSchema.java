package dev.gateway.config.yaml.schema;

import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ScalarType;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Schema of what a file includes. It is read before all other keys, as these may stand in any file. */
public final class IncludeSchema {
    public static final String KEY = "include";

    private static final String PATTERN = "[^\\x00-\\x1f\\x7f]+";

    private static final ScalarType<Include> INCLUDE = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^(" + PATTERN + ")$"),
                    new Include(new Position("", 1, 1), ""),
                    (text, site) -> {
                        String problem = problem(text);
                        if (problem != null) {
                            throw new InvalidException(problem);
                        }
                        return new Include(site.position(), text);
                    },
                    Include::text)
            .named(
                    "file pattern",
                    "A file name. In its last part, * stands for any characters and ? for one. A relative one "
                            + "starts at the directory of the file that has it.");

    /** Each file or pattern, in order. */
    public static final ListType<Include> LIST = new ListType<>(INCLUDE, 0);

    private IncludeSchema() {}

    /**
     * One file, or a pattern of files.
     *
     * @param text not empty, unless it could not be read
     */
    public record Include(Position position, String text) {}

    private static @Nullable String problem(String text) {
        String quoted = MessageText.quote(text);
        if (text.contains("://") || text.startsWith("file:")) {
            return "expected a file name, not " + quoted + ": a URL cannot be included; name a file";
        } else if (!text.matches(PATTERN)) {
            return "expected a file name, not " + quoted;
        } else if (text.matches(".*[\\[\\]{}].*")) {
            return "expected a file name in which only * and ? have a meaning, not " + quoted
                    + ": write each pattern alone";
        } else if (text.contains("**") || text.matches(".*[*?].*/.*")) {
            return "expected * and ? in the name of the file only, not " + quoted
                    + ": write a pattern for each directory";
        } else if (text.startsWith("~")) {
            return "expected a file name, not " + quoted + ": write the home directory out";
        }
        try {
            return Path.of(text).getFileName() == null ? "expected a file name, not " + quoted : null;
        } catch (InvalidPathException e) {
            return "not a file name: " + e.getReason();
        }
    }
}
