package dev.gateway.tests.attacks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.attacks.AttackTable.Attack;
import dev.gateway.tests.attacks.AttackTable.Sender;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of known attacks is what the table says, and what the table names exists. */
class AttackTableTest {
    private static final Path PAGE = Path.of("../docs/known-attacks.md");
    private static final Path INTRODUCTION = Path.of("src/test/resources/attacks/introduction.md");
    private static final String REWRITE = "mvn -q -pl gateway-tests test -Dtest=AttackTableTest -Dattacks=write";

    @Test
    void thePageSaysWhatTheTableSays() throws IOException {
        String page = page(AttackTable.read());
        if ("write".equals(System.getProperty("attacks"))) {
            Files.writeString(PAGE, page);
        }
        assertThat(Files.readString(PAGE))
                .as("the page is out of date: run %s", REWRITE)
                .isEqualTo(page);
    }

    @Test
    void everyAttackSaysWhatItDoesAndWhatMustHappen() throws IOException {
        List<Attack> attacks = AttackTable.read();
        assertThat(attacks.stream().filter(attack -> attack.sender() != Sender.NONE))
                .hasSizeGreaterThanOrEqualTo(100);
        assertThat(attacks.stream().filter(attack -> !attack.tried().isEmpty()))
                .as("shown on a vulnerable version")
                .hasSizeGreaterThanOrEqualTo(10);
        for (Attack attack : attacks) {
            String title = attack.toString();
            assertThat(attack.group()).as(title).isNotEmpty();
            assertThat(attack.hit()).as(title).isNotEmpty();
            assertThat(attack.ids()).as(title).allSatisfy(AttackTableTest::assertId);
            boolean numbered = attack.ids().stream().allMatch(AttackTableTest::isNumber);
            assertThat(attack.link()).as(title).matches(numbered ? "(https://.*)?" : "https://.*");
            switch (attack.sender()) {
                case H1, H2, UPSTREAM -> assertThat(attack.answers()).as(title).isNotEmpty();
                case TEST, NONE -> assertThat(attack.here()).as(title).endsWith(".");
            }
            if (attack.sender() != Sender.NONE) {
                assertThat(attack.does()).as(title).endsWith(".");
            }
        }
    }

    private static void assertId(String id) {
        assertThat(id).matches("CVE-20\\d\\d-\\d{4,6}|GHSA(-[0-9a-z]{4}){3}|[A-Z0-9a-z][\\w.-]+");
    }

    private static boolean isNumber(String id) {
        return id.startsWith("CVE-") || id.startsWith("GHSA-");
    }

    /** A test that somebody renames would be missing. */
    @Test
    void everyTestThatIsNamedExists() throws IOException {
        for (Attack attack : AttackTable.read()) {
            for (String test : attack.tests()) {
                String[] parts = test.split("#");
                List<Path> sources = sources(parts[0]);
                assertThat(sources).as(test).hasSize(1);
                assertThat(Files.readString(sources.get(0)))
                        .as(test)
                        .containsPattern("@(Parameterized)?Test[^;]*?\\bvoid " + Pattern.quote(parts[1]) + "\\(");
            }
        }
    }

    private static List<Path> sources(String name) throws IOException {
        List<Path> found = new ArrayList<>();
        for (String module : List.of("gateway-config", "gateway-core", "gateway-tests")) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "test", "java"))) {
                files.filter(file -> file.endsWith(name + ".java")).forEach(found::add);
            }
        }
        return found;
    }

    private static String page(List<Attack> attacks) throws IOException {
        StringBuilder page = new StringBuilder(Files.readString(INTRODUCTION));
        String group = "";
        for (Attack attack : attacks) {
            boolean none = attack.sender() == Sender.NONE;
            if (!attack.group().equals(group)) {
                group = attack.group();
                page.append("\n## ").append(group).append("\n\n");
                page.append(none ? "| attack | hit | why not here |\n" : "| attack | hit | here | test |\n");
                page.append(none ? "|---|---|---|\n" : "|---|---|---|---|\n");
            }
            page.append("| ").append(links(attack));
            if (!attack.does().isEmpty()) {
                page.append(": ").append(attack.does());
            }
            page.append(" | ").append(attack.hit());
            if (!attack.tried().isEmpty()) {
                page.append(". Tried: ").append(attack.tried());
            }
            page.append(" | ").append(here(attack));
            if (!none) {
                page.append(" | ").append(tests(attack));
            }
            page.append(" |\n");
        }
        return page.toString();
    }

    private static String links(Attack attack) {
        return attack.ids().stream()
                .map(id -> "[" + id.replace('_', ' ') + "](" + link(attack, id) + ")")
                .collect(Collectors.joining(", "));
    }

    private static String link(Attack attack, String id) {
        if (id.startsWith("CVE-")) {
            return "https://www.cve.org/CVERecord?id=" + id;
        }
        return attack.link().isEmpty() ? "https://github.com/advisories/" + id : attack.link();
    }

    private static String tests(Attack attack) {
        if (attack.isPlayed()) {
            return switch (attack.sender()) {
                case H1 -> "client, HTTP/1";
                case H2 -> "client, HTTP/2";
                default -> "upstream";
            };
        }
        return attack.tests().stream().map(test -> "`" + test + "`").collect(Collectors.joining(", "));
    }

    /** Says in words what a played attack must lead to. */
    private static String here(Attack attack) {
        if (!attack.isPlayed()) {
            return attack.here();
        }
        List<String> sentences = new ArrayList<>();
        sentences.add(
                attack.answers().stream().map(AttackTableTest::answer).collect(Collectors.joining(", then ")) + ".");
        sentences.add(attack.sender() == Sender.UPSTREAM ? "The next request gets its own answer." : sees(attack));
        attack.seen()
                .forEach(field -> sentences.add(
                        field.value().isEmpty()
                                ? "`" + field.name() + "` is gone."
                                : "`" + field.name() + "` is `" + field.value() + "`."));
        if (!attack.here().isEmpty()) {
            sentences.add(attack.here());
        }
        return String.join(" ", sentences);
    }

    private static String answer(String answer) {
        String status = answer.split(" ")[0].replace("|", " or ");
        return status + (answer.contains("closed") ? " and close" : "");
    }

    private static String sees(Attack attack) {
        if (attack.sees().isEmpty() && attack.may().isEmpty()) {
            return "The upstream gets nothing.";
        }
        Stream<String> requests = attack.sees().isEmpty() ? Stream.of(attack.may()) : attack.sees().stream();
        return "The upstream gets "
                + requests.map(AttackTableTest::request).collect(Collectors.joining(" and "))
                + (attack.may().isEmpty() ? "." : ", or nothing.");
    }

    /** Returns method and path, and whether all else is the body. */
    private static String request(String seen) {
        String[] parts = seen.split(" ", 3);
        return "`" + parts[0] + " " + parts[1] + "`" + (parts.length > 2 ? " with the rest as its body" : "");
    }
}
