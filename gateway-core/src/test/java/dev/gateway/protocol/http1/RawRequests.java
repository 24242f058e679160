package dev.gateway.protocol.http1;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The corpus of raw requests with their verdicts, {@code http1/requests.txt}; its head explains the format. */
public final class RawRequests {
    private RawRequests() {}

    /**
     * One connection's worth.
     *
     * @param bytes what is sent, a char per byte
     * @param verdicts what must come of it, in order
     * @param closed whether the connection closes although nothing was refused
     */
    public record Case(String title, String bytes, List<Verdict> verdicts, boolean closed) {
        @Override
        public String toString() {
            return title;
        }
    }

    /**
     * What must come of one request.
     *
     * @param status the status it is refused with, 0 if it is accepted, -1 if more input is needed
     * @param line method, host and path as forwarded, {@code -} for what is empty
     * @param body the body as forwarded
     * @param fields {@code name: value} lines that are forwarded, or bare names that are not
     * @param trailers {@code name: value} lines: all that is forwarded
     */
    public record Verdict(int status, String line, String body, List<String> fields, List<String> trailers) {}

    /** Reads the corpus from the class path. */
    public static List<Case> read() {
        InputStream file = Objects.requireNonNull(RawRequests.class.getResourceAsStream("/http1/requests.txt"));
        List<Case> cases = new ArrayList<>();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            Builder builder = new Builder();
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (line.startsWith("= ")) {
                    builder.addTo(cases);
                    builder = new Builder();
                }
                builder.take(line);
            }
            builder.addTo(cases);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return cases;
    }

    public static final class Builder {
        private final StringBuilder bytes = new StringBuilder();
        private final List<Verdict> verdicts = new ArrayList<>();
        private String title = "";
        private boolean closed;

        void take(String line) {
            int space = line.indexOf(' ');
            String word = space < 0 ? line : line.substring(0, space);
            String rest = space < 0 ? "" : line.substring(space + 1);
            switch (word) {
                case "", "#" -> {}
                case "=" -> title = rest;
                case ">" -> bytes.append(unescape(rest));
                case "<" -> verdicts.add(verdict(rest));
                case "closed" -> closed = true;
                case "body" -> replaceLast(unescape(rest));
                case "field" -> last().fields().add(unescape(rest));
                case "trailer" -> last().trailers().add(unescape(rest));
                default -> throw new IllegalArgumentException(title + ": " + line);
            }
        }

        private static Verdict verdict(String text) {
            int status = text.equals("wait") ? -1 : text.matches("[0-9]{3}") ? Integer.parseInt(text) : 0;
            return new Verdict(status, unescape(text), "", new ArrayList<>(), new ArrayList<>());
        }

        private Verdict last() {
            return verdicts.get(verdicts.size() - 1);
        }

        private void replaceLast(String body) {
            Verdict last = last();
            verdicts.set(
                    verdicts.size() - 1, new Verdict(last.status(), last.line(), body, last.fields(), last.trailers()));
        }

        void addTo(List<Case> cases) {
            if (!title.isEmpty()) {
                cases.add(new Case(title, bytes.toString(), List.copyOf(verdicts), closed));
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
                default -> throw new IllegalArgumentException(text);
            }
        }
        return out.toString();
    }
}
