package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.Problem;
import dev.gateway.config.Problem.Severity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What somebody writes who comes from nginx, HAProxy, Traefik, Envoy or the Gateway API, or guesses: {@code mistakes.txt} has it
 * key by key, with what the gateway says. Each is alone in a configuration that is right otherwise. None is among the files of
 * {@link BrokenConfigsTest}.
 */
class MistakesTest {
    private static final Path RESOURCES = Path.of("src/test/resources").toAbsolutePath();
    private static final String WEB = "listeners: [{name: web, port: 8080, protocol: HTTP}]\n";
    private static final String RULES = "rules: [{backendRefs: [{name: app}]}]";
    private static final String ROUTES = "routes: [{" + RULES + "}]\n";
    private static final String UPSTREAMS = "upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]\n";

    /** How a message tells what to write instead: in words, by an example, a range or a short list. */
    private static final Pattern FIX = Pattern.compile("did you mean|write |remove|add |leave |name |needs '|such as"
            + "|from [0-9-]+\\w* to|expected one of [^,]+(, [^,]+){0,8}$");

    /** The places where mistakes are made, each with a whole configuration. */
    private static final Map<String, String> PLACES = Map.ofEntries(
            Map.entry("top", WEB + ROUTES + UPSTREAMS + "MISTAKE\n"),
            Map.entry("admin", WEB + ROUTES + UPSTREAMS + "admin: {MISTAKE}\n"),
            Map.entry(
                    "listener", "listeners: [{name: web, protocol: HTTP, port: 8080, MISTAKE}]\n" + ROUTES + UPSTREAMS),
            Map.entry(
                    "tls",
                    "listeners: [{name: web, port: 8443, protocol: HTTPS, tls: {MISTAKE}}]\n" + ROUTES + UPSTREAMS),
            Map.entry("route", WEB + "routes: [{name: r, " + RULES + ", MISTAKE}]\n" + UPSTREAMS),
            Map.entry("rule", WEB + "routes: [{rules: [{backendRefs: [{name: app}], MISTAKE}]}]\n" + UPSTREAMS),
            Map.entry(
                    "match",
                    WEB + "routes: [{rules: [{backendRefs: [{name: app}], matches: [{MISTAKE}]}]}]\n" + UPSTREAMS),
            Map.entry("backend", WEB + "routes: [{rules: [{backendRefs: [{MISTAKE}]}]}]\n" + UPSTREAMS),
            Map.entry(
                    "filter",
                    WEB + "routes: [{rules: [{backendRefs: [{name: app}], filters: [{MISTAKE}]}]}]\n" + UPSTREAMS),
            Map.entry("answer", WEB + "routes: [{rules: [{filters: [{MISTAKE}]}]}]\n"),
            Map.entry("endpoint", WEB + ROUTES + "upstreams: [{name: app, endpoints: [{MISTAKE}]}]\n"),
            Map.entry(
                    "upstream",
                    WEB + ROUTES + "upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}], MISTAKE}]\n"),
            Map.entry(
                    "connect",
                    """
                    listeners: [{name: egress, address: 127.0.0.1, port: 3128, protocol: HTTP}]
                    connect: [{name: egress, parentRefs: [{name: egress}], MISTAKE}]
                    """));

    /** What is written, where, and what is said of it. */
    record Mistake(String place, String written, List<String> messages) {
        @Override
        public String toString() {
            return place + ": " + written;
        }

        List<Problem> problems() {
            String text = Objects.requireNonNull(PLACES.get(place), place).replace("MISTAKE", written);
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            return ConfigLoader.parse("gateway.yaml", bytes, RESOURCES, Map.of())
                    .problems();
        }
    }

    static List<Mistake> mistakes() throws IOException {
        List<Mistake> mistakes = new ArrayList<>();
        for (String line : Files.readAllLines(RESOURCES.resolve("mistakes.txt"))) {
            if (line.startsWith("  ")) {
                mistakes.get(mistakes.size() - 1).messages().add(line.strip());
            } else if (!line.isEmpty() && !line.startsWith("#")) {
                int colon = line.indexOf(": ");
                mistakes.add(new Mistake(line.substring(0, colon), line.substring(colon + 2), new ArrayList<>()));
            }
        }
        return mistakes;
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void theOperatorIsToldWhatToWriteInstead(Mistake mistake) {
        List<String> said = mistake.problems().stream()
                .map(problem -> (problem.severity() == Severity.WARNING ? "warning: " : "") + problem.message())
                .map(message -> message.replace(RESOURCES.toString(), "{directory}"))
                .toList();
        assertThat(said).containsExactlyElementsOf(mistake.messages()).isNotEmpty();
    }

    /** Else one mistake would count twice: {@code broken} has a file for which the gateway says the same words. */
    @Test
    void noMistakeIsAmongTheBrokenFiles() throws IOException {
        Set<String> known = BrokenConfigsTest.cases().stream()
                .flatMap(each -> each.problems().stream())
                .map(problem -> problem.replaceFirst("^\\S+?:\\d+:\\d+: ", ""))
                .map(message -> message.replace(RESOURCES.toString(), "{directory}"))
                .collect(Collectors.toSet());
        assertThat(known).hasSizeGreaterThan(500);
        assertThat(mistakes())
                .filteredOn(mistake -> known.containsAll(mistake.messages()))
                .isEmpty();
    }

    /** Patterns that hints are made by would take too many frames of the stack. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "listener|trustedProxies: [LONG]",
                "route|hostnames: ['https://LONG:80']",
                "rule|retry: {methods: ['LONG']}",
                "rule|retry: {methods: ['A|LONG']}",
                "connect|parents: ['http://LONG']"
            })
    void noHintIsMadeOfAVeryLongValue(String mistake) {
        String[] parts = mistake.split("\\|", 2);
        for (String piece : List.of("a.", "A|", "a")) {
            String written = parts[1].replace("LONG", piece.repeat(20_000 / piece.length()) + "a");
            assertThat(new Mistake(parts[0], written, List.of()).problems()).isNotEmpty();
        }
    }

    @Test
    void nineOfTenAnswersNameTheFix() throws IOException {
        List<Mistake> mistakes = mistakes();
        List<String> without = mistakes.stream()
                .filter(mistake -> mistake.messages().stream().noneMatch(FIX.asPredicate()))
                .map(Mistake::toString)
                .toList();
        assertThat(mistakes).hasSizeGreaterThan(500);
        assertThat(without).hasSizeLessThan(mistakes.size() / 10);
    }
}
