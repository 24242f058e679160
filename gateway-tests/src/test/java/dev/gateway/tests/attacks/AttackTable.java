package dev.gateway.tests.attacks;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** The published attacks that are tried here, {@code attacks/table.txt}; its head explains the format. */
final class AttackTable {
    private AttackTable() {}

    /** Who sends what an attack sends. */
    enum Sender {
        /** A client that speaks HTTP/1. */
        H1,
        /** A client that speaks HTTP/2. */
        H2,
        /** The upstream, as its response to {@code GET /odd}. */
        UPSTREAM,
        /** Nobody: a test of its own plays the attack. */
        TEST,
        /** Nobody: this gateway has nothing that the attack could hit. */
        NONE
    }

    /** A field as it must be, or must not be there if the value is empty. */
    record Field(String name, String value) {}

    /**
     * One attack.
     *
     * @param ids its numbers
     * @param link where it is described, empty if its numbers say so
     * @param hit the products that it hit, and until when
     * @param tried the version of one that was sent the same bytes, and what it did; empty if none was
     * @param does what it does
     * @param listener where the client connects
     * @param sent what is sent, a char per byte; by HTTP/2 the body
     * @param fields the header block of HTTP/2
     * @param answers what the client must get, in turn
     * @param sees the requests that the upstream must get, in turn
     * @param may a request that the upstream may get, or may not: it is harmless
     * @param seen the fields of the last of them
     * @param tests the tests that play it, {@code Class#method}
     * @param here what happens here, in addition to what the expectations say
     */
    record Attack(
            String group,
            List<String> ids,
            String link,
            String hit,
            String tried,
            String does,
            Sender sender,
            String listener,
            String sent,
            List<Map.Entry<String, String>> fields,
            List<String> answers,
            List<String> sees,
            String may,
            List<Field> seen,
            List<String> tests,
            String here) {
        @Override
        public String toString() {
            return String.join(" ", ids) + ": " + does;
        }

        boolean isPlayed() {
            return sender == Sender.H1 || sender == Sender.H2 || sender == Sender.UPSTREAM;
        }
    }

    static List<Attack> read() throws IOException {
        String text;
        try (InputStream file =
                Objects.requireNonNull(AttackTable.class.getResourceAsStream("/attacks/table.txt"), "no table")) {
            text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
        List<Attack> attacks = new ArrayList<>();
        String group = "";
        Builder builder = null;
        for (String line : text.lines().toList()) {
            if (line.startsWith("## ") || line.startsWith("= ")) {
                if (builder != null) {
                    attacks.add(builder.build());
                }
                builder = line.startsWith("= ") ? new Builder(group, line.substring(2)) : null;
                group = line.startsWith("## ") ? line.substring(3) : group;
            } else if (!line.isEmpty() && !line.startsWith("#")) {
                Objects.requireNonNull(builder, line).take(line);
            }
        }
        attacks.add(Objects.requireNonNull(builder).build());
        return attacks;
    }

    static Stream<Attack> played(Sender sender) throws IOException {
        return read().stream().filter(attack -> attack.sender() == sender);
    }

    private static final class Builder {
        private final String group;
        private final List<String> ids;
        private String link = "";
        private String hit = "";
        private String tried = "";
        private String does = "";
        private String here = "";
        private String may = "";
        private Sender sender = Sender.NONE;
        private String listener = "web";
        private final StringBuilder sent = new StringBuilder();
        private final List<Map.Entry<String, String>> fields = new ArrayList<>();
        private final List<String> answers = new ArrayList<>();
        private final List<String> sees = new ArrayList<>();
        private final List<Field> seen = new ArrayList<>();
        private final List<String> tests = new ArrayList<>();

        Builder(String group, String ids) {
            this.group = group;
            this.ids = List.of(ids.split(" "));
        }

        void take(String line) {
            int space = line.indexOf(' ');
            String word = space < 0 ? line : line.substring(0, space);
            String rest = space < 0 ? "" : line.substring(space + 1);
            switch (word) {
                case "link" -> link = rest;
                case "hit" -> hit = rest;
                case "tried" -> tried = rest;
                case "does" -> does = rest;
                case "here" -> here = rest;
                case "h1", "h2" -> {
                    sender = word.equals("h1") ? Sender.H1 : Sender.H2;
                    listener = rest.isEmpty() ? listener : rest;
                }
                case "upstream" -> sender = Sender.UPSTREAM;
                case ">" -> send(rest);
                case "data" -> sent.append(unescape(rest));
                case "<" -> answers.add(rest);
                case "sees" -> sees.add(unescape(rest));
                case "may" -> may = unescape(rest.substring("see ".length()));
                case "field" -> {
                    String[] parts = rest.split(": ", 2);
                    seen.add(new Field(parts[0], parts.length < 2 ? "" : unescape(parts[1])));
                }
                case "test" -> {
                    sender = Sender.TEST;
                    tests.add(rest);
                }
                default -> throw new IllegalArgumentException(ids + ": " + line);
            }
        }

        private void send(String text) {
            if (sender == Sender.H2) {
                int colon = text.indexOf(": ");
                fields.add(Map.entry(unescape(text.substring(0, colon)), unescape(text.substring(colon + 2))));
            } else {
                sent.append(unescape(text));
            }
        }

        Attack build() {
            return new Attack(
                    group,
                    ids,
                    link,
                    hit,
                    tried,
                    does,
                    sender,
                    listener,
                    sent.toString(),
                    fields,
                    answers,
                    sees,
                    may,
                    seen,
                    tests,
                    here);
        }
    }

    /** Reads escapes; {@code \{N:TEXT\}} is a text N times. */
    private static String unescape(String text) {
        StringBuilder out = new StringBuilder();
        int i = 0;
        while (i < text.length()) {
            char c = text.charAt(i++);
            if (c != '\\') {
                out.append(c);
                continue;
            }
            switch (text.charAt(i++)) {
                case 'r' -> out.append('\r');
                case 'n' -> out.append('\n');
                case 't' -> out.append('\t');
                case '0' -> out.append('\0');
                case '\\' -> out.append('\\');
                case 'x' -> {
                    out.append((char) Integer.parseInt(text, i, i + 2, 16));
                    i += 2;
                }
                case '{' -> {
                    int colon = text.indexOf(':', i);
                    int end = text.indexOf("\\}", i);
                    out.append(unescape(text.substring(colon + 1, end)).repeat(Integer.parseInt(text, i, colon, 10)));
                    i = end + 2;
                }
                default -> throw new IllegalArgumentException(text);
            }
        }
        return out.toString();
    }
}
