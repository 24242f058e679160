package dev.gateway.config.yaml;

import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.Node;
import dev.gateway.config.yaml.type.Problems;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Turns one YAML document into nodes. It reads events rather than composed nodes, so that depth is refused before anything
 * is built, and ends at the first thing that is not YAML as we accept it. An alias is an error, too. What it stands for is
 * read in its place, so that the check finds all other mistakes as well.
 */
final class YamlReader {
    private static final int MAX_DEPTH = 32;

    /** How many nodes aliases may stand for: enough to check a file that somebody wrote. */
    private static final int MAX_ALIASED = 10_000;

    private static final String MERGE = "<<";

    /** A key and its value without a space between them; not a URL. */
    private static final Pattern JOINED = Pattern.compile("^[\\s-]*([A-Za-z][A-Za-z0-9_]*):(?![\\s/])");

    private final String file;
    private final String text;
    private final String whenEmpty;
    private final Problems problems;
    private final Iterator<Event> events;
    private final Map<Anchor, Anchored> anchors = new HashMap<>();
    private int nodes; // so far, each alias counted as what it stands for
    private int aliased; // of these, those that aliases stand for

    /**
     * What has an anchor.
     *
     * @param size how many nodes it has, itself included
     */
    private record Anchored(Node node, int size) {}

    private YamlReader(String file, String text, String whenEmpty, Problems problems) {
        this.file = file;
        this.text = text;
        this.whenEmpty = whenEmpty;
        this.problems = problems;
        LoadSettings settings = LoadSettings.builder()
                .setLabel(file)
                .setCodePointLimit(2 * YamlText.MAX_BYTES)
                .build();
        this.events = new Parse(settings).parseString(text).iterator();
    }

    /**
     * Returns the document's root, or null after one problem was reported.
     *
     * @param whenEmpty what to write if there is nothing
     */
    static @Nullable Node read(String file, String text, String whenEmpty, Problems problems) {
        YamlReader reader = new YamlReader(file, text, whenEmpty, problems);
        try {
            return reader.document();
        } catch (Stop stop) {
            problems.error(stop.position, stop.message);
        } catch (MarkedYamlEngineException e) {
            reader.report(e);
        } catch (ReaderException e) {
            problems.error(
                    reader.positionOf(e.getPosition()),
                    "not valid YAML: the character U+"
                            + Integer.toHexString(0x10000 | e.getCodePoint()).substring(1)
                            + " is not allowed; remove it, or write it as an escape in double quotes");
        } catch (YamlEngineException e) {
            problems.error(reader.position((Mark) null), "not valid YAML: " + e.getMessage());
        }
        return null;
    }

    private @Nullable Node document() throws Stop {
        Node root = null;
        while (events.hasNext()) {
            Event event = events.next();
            switch (event.getEventId()) {
                case StreamStart, StreamEnd, DocumentStart, DocumentEnd, Comment -> {}
                default -> {
                    if (root != null) {
                        throw new Stop(position(event), "a second document begins here: a file holds one");
                    }
                    root = node(event, 1);
                }
            }
        }
        if (root == null) {
            throw new Stop(position((Mark) null), "the file is empty: " + whenEmpty);
        }
        return root;
    }

    private Node node(Event event, int depth) throws Stop {
        if (event instanceof AliasEvent alias) {
            return aliased(alias);
        }
        int before = nodes++;
        Node node = written(event, depth);
        if (event instanceof NodeEvent named && named.getAnchor().isPresent()) {
            anchors.put(named.getAnchor().get(), new Anchored(node, nodes - before));
        }
        return node;
    }

    /** Reports an alias. Returns the node of its anchor; without an anchor, as for {@code *example}, the text as a scalar. */
    private Node aliased(AliasEvent alias) throws Stop {
        Position position = position(alias);
        String message = "aliases (*...) are not supported: write the value out here, or put it in quotes";
        Anchored anchored = anchors.get(alias.getAlias());
        if (anchored == null) {
            problems.unreadable(position, message);
            return new Node.Scalar(position, "*" + alias.getAlias(), false);
        }
        nodes += anchored.size;
        aliased += anchored.size;
        if (aliased > MAX_ALIASED) {
            throw new Stop(position, message);
        }
        problems.error(position, message);
        return anchored.node;
    }

    private Node written(Event event, int depth) throws Stop {
        Position position = position(event);
        if (depth > MAX_DEPTH) {
            throw new Stop(position, "nested more than " + MAX_DEPTH + " levels deep");
        }
        if (event instanceof ScalarEvent scalar) {
            refuseTag(position, scalar.getTag());
            return new Node.Scalar(position, scalar.getValue(), scalar.isPlain());
        }
        if (event instanceof CollectionStartEvent start) {
            refuseTag(position, start.getTag());
        }
        if (event instanceof SequenceStartEvent) {
            List<Node> items = new ArrayList<>();
            for (Event next = next(); next.getEventId() != Event.ID.SequenceEnd; next = next()) {
                Node item = node(next, depth + 1);
                // An item that stands there again would only be told to be a duplicate.
                if (!(next instanceof AliasEvent) || items.stream().noneMatch(each -> each == item)) {
                    items.add(item);
                }
            }
            return new Node.Sequence(position, items);
        }
        if (event instanceof MappingStartEvent) {
            return mapping(position, depth);
        }
        throw new IllegalStateException("unexpected " + event);
    }

    private Node mapping(Position position, int depth) throws Stop {
        Map<String, Node.Entry> entries = new LinkedHashMap<>();
        Map<String, Node.Entry> inherited = new LinkedHashMap<>();
        for (Event next = next(); next.getEventId() != Event.ID.MappingEnd; next = next()) {
            if (!(node(next, depth + 1) instanceof Node.Scalar key)) {
                throw new Stop(position(next), "a key must be a plain word");
            }
            Event begin = next();
            Node value = node(begin, depth + 1);
            if (key.text().equals(MERGE) && begin instanceof AliasEvent) {
                if (value instanceof Node.Mapping merged) {
                    inherited.putAll(merged.entries());
                }
                continue; // the alias is an error, so the key need not be another one
            }
            Node.Entry first = entries.putIfAbsent(key.text(), new Node.Entry(key.position(), value));
            if (first != null) {
                problems.error(
                        key.position(),
                        "duplicate key '" + key.text() + "', first written in line "
                                + first.keyPosition().line());
            }
        }
        inherited.forEach(entries::putIfAbsent);
        return new Node.Mapping(position, entries);
    }

    private Event next() {
        Event event = events.next();
        return event.getEventId() == Event.ID.Comment ? next() : event;
    }

    private static void refuseTag(Position position, Optional<?> tag) throws Stop {
        if (tag.isPresent()) {
            throw new Stop(position, "tags (!...) are not supported: remove it, or put the value in quotes");
        }
    }

    private void report(MarkedYamlEngineException e) {
        // A line such as 'port:443' is no key, which the parser sees only when the next line has come.
        Mark begun = e.getContextMark().orElse(null);
        Matcher joined = begun == null ? null : JOINED.matcher(line(begun.getLine()));
        if (begun != null
                && joined != null
                && String.valueOf(e.getProblem()).contains("expected ':'")
                && joined.find()) {
            String key = joined.group(1);
            problems.error(
                    new Position(file, begun.getLine() + 1, joined.start(1) + 1),
                    "a space is missing after '" + key + ":': write '" + key + ": ...'");
            return;
        }
        Mark mark = e.getProblemMark().or(e::getContextMark).orElse(null);
        // A plain '$' and then a mapping, as the parser sees it in flow style.
        if (mark != null && line(mark.getLine()).startsWith("${", mark.getColumn() - 1)) {
            Position variable = new Position(file, mark.getLine() + 1, mark.getColumn());
            problems.error(variable, "a variable inside {...} or [...] needs quotes: write \"${NAME}\"");
            return;
        }
        if (begun != null && String.valueOf(e.getContext()).matches("while scanning an (alias|anchor)")) {
            problems.error(
                    position(begun),
                    "'*' and '&' begin aliases and anchors, which are not supported: put the value in quotes");
            return;
        }
        problems.error(position(mark), "not valid YAML: " + explain(e));
    }

    private String line(int number) {
        return text.lines().skip(number).findFirst().orElse("");
    }

    private static String explain(MarkedYamlEngineException e) {
        String problem = e.getProblem() == null ? String.valueOf(e.getMessage()) : e.getProblem();
        if (problem.contains("TAB")) {
            return "a tab cannot indent: use spaces";
        }
        if (problem.contains("mapping values are not allowed here")) {
            return "a ':' where no key can be: check the indentation, or put the value in quotes";
        }
        String context = e.getContext() == null ? "" : e.getContext() + ", ";
        if (problem.contains("cannot start any token")) {
            return problem + ": put the value in quotes";
        }
        String hint = problem.contains("block end") || problem.contains("could not find expected ':'")
                ? " (check the indentation of this line and the one before)"
                : "";
        return context + problem + hint;
    }

    private Position position(Event event) {
        return position(event.getStartMark().orElse(null));
    }

    private Position position(@Nullable Mark mark) {
        return mark == null ? new Position(file, 1, 1) : new Position(file, mark.getLine() + 1, mark.getColumn() + 1);
    }

    private Position positionOf(int offset) {
        int end = Math.min(offset, text.length());
        int line = 1;
        int start = 0;
        for (int i = 0; i < end; i++) {
            if (text.charAt(i) == '\n') {
                line++;
                start = i + 1;
            }
        }
        return new Position(file, line, end - start + 1);
    }

    /** Ends the reading with one problem. */
    private static final class Stop extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Position position;
        private final String message;

        Stop(Position position, String message) {
            super(message);
            this.position = position;
            this.message = message;
        }
    }
}
