package dev.gateway.protocol.http1;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The corpus of raw responses with their verdicts, {@code http1/responses.txt}; its head explains the format. */
public final class RawResponses {
    private RawResponses() {}

    /** What becomes of a response and of its connection. */
    public enum Outcome {
        /** The response is whole, and the connection takes another request. */
        KEPT,
        /** The response is whole, and the connection is closed. */
        LAST,
        /** The response is whole; bytes came behind it, and the connection is closed. */
        EXTRA,
        /** The response is whole before its request; when that ends, too, the connection is closed. */
        EARLY,
        /** The upstream broke the rules before the head was handed on, and the connection is closed. */
        REFUSED,
        /** The upstream broke the rules after the head was handed on, and the connection is closed. */
        BROKEN,
        /** The connection has ended before the response's head. */
        LOST,
        /** The connection has ended amid the response's body. */
        CUT,
        /** More is to come. */
        WAIT;

        /** Whether the response has come to its end. */
        public boolean isWhole() {
            return this == KEPT || this == LAST || this == EXTRA || this == EARLY;
        }
    }

    /** A head that is handed on, with its reason phrase if that is of interest. */
    public record Status(int code, @Nullable String reason) {}

    /**
     * One response, with the interim ones before it and whatever comes behind it.
     *
     * @param method of the request
     * @param requestEnds whether the request ends before the response comes
     * @param bytes what is sent, a char per byte
     * @param closes whether the upstream then closes the connection
     * @param statuses the heads that are handed on
     * @param body what is handed on of the body
     * @param fields {@code name: value} lines of the last head, or bare names that are not in it
     * @param trailers {@code name: value} lines: all that is handed on
     * @param violations how it breaks the rules; of several words it depends on the cut which of them it is
     * @param keepAliveMillis how long the upstream says that it keeps the connection
     */
    public record Case(
            String title,
            String method,
            boolean requestEnds,
            String bytes,
            boolean closes,
            List<Status> statuses,
            String body,
            List<String> fields,
            List<String> trailers,
            Outcome outcome,
            List<String> violations,
            long keepAliveMillis) {
        @Override
        public String toString() {
            return title;
        }

        /** Returns the status of the final head, 0 if none is handed on. */
        public int finalStatus() {
            int last =
                    statuses.isEmpty() ? 0 : statuses.get(statuses.size() - 1).code();
            return last < 200 ? 0 : last;
        }
    }

    /** Reads the corpus from the class path. */
    public static List<Case> read() {
        InputStream file = Objects.requireNonNull(RawResponses.class.getResourceAsStream("/http1/responses.txt"));
        List<Case> cases = new ArrayList<>();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            Builder builder = new Builder("");
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (line.startsWith("= ")) {
                    builder.addTo(cases);
                    builder = new Builder(line.substring(2));
                } else {
                    builder.take(line);
                }
            }
            builder.addTo(cases);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return cases;
    }

    public static final class Builder {
        private final String title;
        private final StringBuilder bytes = new StringBuilder();
        private final StringBuilder body = new StringBuilder();
        private final List<Status> statuses = new ArrayList<>();
        private final List<String> fields = new ArrayList<>();
        private final List<String> trailers = new ArrayList<>();
        private String method = "GET";
        private boolean requestEnds = true;
        private boolean closes;
        private long keepAliveMillis = -1;
        private @Nullable Outcome outcome;
        private List<String> violations = List.of();

        Builder(String title) {
            this.title = title;
        }

        void take(String line) {
            int space = line.indexOf(' ');
            String word = space < 0 ? line : line.substring(0, space);
            String rest = space < 0 ? "" : line.substring(space + 1);
            switch (word) {
                case "", "#", "near" -> {}
                case "@" -> {
                    method = rest.split(" ", 2)[0];
                    requestEnds = !rest.endsWith(" unfinished");
                }
                case ">" -> bytes.append(unescape(rest));
                case "eof" -> closes = true;
                case "<" -> takeStatus(rest);
                case "body" -> body.append(unescape(rest));
                case "field" -> fields.add(unescape(rest));
                case "trailer" -> trailers.add(unescape(rest));
                case "keeps" -> keepAliveMillis = Long.parseLong(rest);
                default -> {
                    if (outcome != null) {
                        throw new IllegalArgumentException(title + ": " + line);
                    }
                    outcome = Outcome.valueOf(word.toUpperCase(Locale.ROOT));
                    violations = rest.isEmpty() ? List.of() : List.of(rest.split(" "));
                }
            }
        }

        private void takeStatus(String text) {
            int code = Integer.parseInt(text.substring(0, 3));
            if (text.startsWith(" times ", 3)) {
                for (int i = Integer.parseInt(text.substring(10)); i > 0; i--) {
                    statuses.add(new Status(code, null));
                }
            } else {
                statuses.add(new Status(code, text.length() > 4 ? unescape(text.substring(4)) : null));
            }
        }

        void addTo(List<Case> cases) {
            if (!title.isEmpty()) {
                cases.add(new Case(
                        title,
                        method,
                        requestEnds,
                        bytes.toString(),
                        closes,
                        List.copyOf(statuses),
                        body.toString(),
                        List.copyOf(fields),
                        List.copyOf(trailers),
                        Objects.requireNonNull(outcome, title),
                        violations,
                        keepAliveMillis));
            }
        }
    }

    private static String unescape(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '\\') {
                out.append(c);
                continue;
            }
            char escape = text.charAt(++i);
            switch (escape) {
                case 'r' -> out.append('\r');
                case 'n' -> out.append('\n');
                case 't' -> out.append('\t');
                case '0' -> out.append('\0');
                case '\\' -> out.append('\\');
                case 'x' -> {
                    out.append((char) Integer.parseInt(text.substring(i + 1, i + 3), 16));
                    i += 2;
                }
                case '{' -> {
                    int star = text.indexOf('*', i);
                    int end = text.indexOf('}', star);
                    int times = Integer.parseInt(text.substring(i + 1, star));
                    out.append(unescape(text.substring(star + 1, end)).repeat(times));
                    i = end;
                }
                default -> throw new IllegalArgumentException(text);
            }
        }
        return out.toString();
    }
}
