package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Each claim of {@code SECURITY.md} names tests that exist: a test that somebody renames would be missing. */
class SecurityClaimsTest {
    private static final Path TOP = Path.of("..");
    private static final Pattern CLAIM = Pattern.compile("\\| (?!it cannot|the \\w+ cannot|---)(.+) \\| (.*) \\|");
    private static final Pattern NAMED = Pattern.compile("`(\\w+)#(\\w+)`");

    @Test
    void eachClaimHasTestsThatExist() throws IOException {
        Set<String> tests = new HashSet<>();
        for (String module : TestSource.MODULES) {
            for (TestSource source : TestSource.of(TOP, module)) {
                source.tests().forEach(test -> tests.add(source.name() + "#" + test.name()));
            }
        }
        List<Matcher> claims = Files.readAllLines(TOP.resolve("SECURITY.md")).stream()
                .map(CLAIM::matcher)
                .filter(Matcher::matches)
                .toList();
        assertThat(claims).hasSizeGreaterThan(30);
        for (Matcher claim : claims) {
            List<String> named = NAMED.matcher(claim.group(2))
                    .results()
                    .map(test -> test.group(1) + "#" + test.group(2))
                    .toList();
            assertThat(named).as(claim.group(1)).isNotEmpty();
            assertThat(tests).as(claim.group(1)).containsAll(named);
        }
    }
}
