package dev.gateway.config.yaml.type;

import dev.gateway.config.Problem;
import dev.gateway.config.value.Position;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Collects what is wrong with one configuration. */
public final class Problems {
    /** More than anyone reads, and an end to what a hostile file can make us print. */
    private static final int LIMIT = 200;

    private final Set<Problem> found = new LinkedHashSet<>();
    private final Set<Position> unreadable = new HashSet<>(); // where values stand that others were read for
    private final Map<String, Integer> files = new HashMap<>(); // their order
    private int errors;
    private int omitted;
    private @Nullable Variables variables;

    /** What is wrong with a file comes after what is wrong with those that were begun before. */
    void begin(String file) {
        files.putIfAbsent(file, files.size());
    }

    /**
     * Adds that a value could not be read. Another one stands in for it, so nothing else is said of this place from now on:
     * nobody wrote the other value.
     */
    public void unreadable(Position position, String message) {
        error(position, message);
        unreadable.add(position);
    }

    /** Whether something of a value could not be read, so that something else may seem to be unused. */
    public boolean isAnythingUnreadable(Node value) {
        if (unreadable.isEmpty()) {
            return false;
        }
        List<Node> parts = List.of();
        if (value instanceof Node.Sequence list) {
            parts = list.items();
        } else if (value instanceof Node.Mapping mapping) {
            parts = mapping.entries().values().stream().map(Node.Entry::value).toList();
        }
        return unreadable.contains(value.position()) || parts.stream().anyMatch(this::isAnythingUnreadable);
    }

    /** Adds what keeps the configuration from being used. */
    public void error(Position position, String message) {
        if (unreadable.contains(position)) {
            return;
        }
        errors++;
        add(new Problem(position, Problem.Severity.ERROR, message));
    }

    /** Adds what the operator should know, and may leave as it is. */
    public void warning(Position position, String message) {
        if (unreadable.contains(position)) {
            return;
        }
        add(new Problem(position, Problem.Severity.WARNING, message));
    }

    /** Whether the configuration cannot be used. */
    public boolean hasErrors() {
        return errors > 0;
    }

    /** Returns how many of them keep the configuration from being used. */
    int errors() {
        return errors;
    }

    /** Returns them in the order of the files, and of their lines. */
    public List<Problem> inOrder() {
        List<Problem> sorted = new ArrayList<>(found);
        if (sorted.size() > 1) { // at every start there are none, and comparators take 10 ms to make
            sorted.sort(Comparator.comparingInt(
                            (Problem p) -> files.getOrDefault(p.position().file(), -1))
                    .thenComparingInt(p -> p.position().line())
                    .thenComparingInt(p -> p.position().column()));
        }
        if (omitted > 0) {
            Position last = sorted.get(sorted.size() - 1).position();
            sorted.add(new Problem(last, Problem.Severity.ERROR, "and " + omitted + " more problems"));
        }
        return sorted;
    }

    /** Shows no value of these variables from now on. */
    void conceal(Variables variables) {
        this.variables = variables;
    }

    private void add(Problem shown) {
        Problem problem = variables == null
                ? shown
                : new Problem(shown.position(), shown.severity(), variables.conceal(shown.message()));
        if (found.size() < LIMIT) {
            found.add(problem);
        } else {
            omitted++;
        }
    }
}
