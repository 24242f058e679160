package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.Cause;
import dev.gateway.tests.support.Documents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One document has a table of causes, which tells what to do about every failure. */
class OperatorsGuideTest {
    private static final Pattern CAUSES =
            Pattern.compile("^\\| cause \\|.*\\n\\|.*\\n\\| `no_route` (?:\\|.*\\n)+", Pattern.MULTILINE);

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNKNOWN")
    void everyCauseIsExplained(Cause cause) throws Exception {
        assertThat(tables())
                .singleElement()
                .asString()
                .contains("\n| `" + cause.name().toLowerCase(Locale.ROOT) + "` | ");
    }

    private static List<String> tables() throws IOException {
        List<String> tables = new ArrayList<>();
        for (Path document : Documents.forUsers()) {
            Matcher table = CAUSES.matcher(Files.readString(document));
            while (table.find()) {
                tables.add(table.group());
            }
        }
        return tables;
    }
}
