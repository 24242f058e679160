package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Entries of the rationale are short, and have a decision, an alternative and a price; figures stand elsewhere. */
class RationaleDocumentsTest {
    private static final Path RATIONALE = Path.of("../docs/rationale");
    private static final int MAX_WORDS = 90; // about 80, and some slack for links

    @Test
    void everyEntryHasItsThreePartsAndIsShort() throws IOException {
        List<String> wrong = new ArrayList<>();
        int entries = 0;
        for (Path page : pages()) {
            String[] parts = Files.readString(page).split("(?m)^## ", -1);
            for (String entry : Arrays.asList(parts).subList(1, parts.length)) {
                entries++;
                String name =
                        page.getFileName() + ": " + entry.lines().findFirst().orElseThrow();
                if (!entry.matches(
                        "(?s).*\\n- \\*\\*Decision:\\*\\* .*\\n- \\*\\*Alternative:\\*\\* .*\\n- \\*\\*Price:\\*\\* .*")) {
                    wrong.add(name + " lacks one of decision, alternative and price, in this order");
                }
                long words = entry.lines()
                        .skip(1)
                        .filter(line -> !line.strip().startsWith("|"))
                        .flatMap(line -> Stream.of(line.strip().split("\\s+", -1)))
                        .filter(word -> word.matches(".*\\w.*") && !word.endsWith(":**"))
                        .count();
                if (words > MAX_WORDS) {
                    wrong.add(name + " has " + words + " words");
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(entries).isGreaterThan(150);
    }

    /** A title in quotes after a link to the figures is that of a heading or a row there. */
    @Test
    void referencesToFiguresNameATitleThatExists() throws IOException {
        String figures = Files.readString(Path.of("../docs/speed.md"));
        Pattern reference = Pattern.compile("speed\\.md\\)[^.\"]{0,30}\"([^\"]+)\"");
        int references = 0;
        for (Path page : pages()) {
            Matcher matcher = reference.matcher(Files.readString(page).replaceAll("\\s+", " "));
            while (matcher.find()) {
                references++;
                assertThat(figures).as(page.toString()).contains(matcher.group(1));
            }
        }
        assertThat(references).isGreaterThan(8);
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.list(RATIONALE)) {
            return files.filter(file -> file.toString().endsWith(".md") && !file.endsWith("index.md"))
                    .sorted()
                    .toList();
        }
    }
}
