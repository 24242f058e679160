package dev.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The lists of files in ARCHITECTURE.md are those that mention their example. */
class WalkthroughsTest {
    private static final Path TOP = Path.of("..");
    private static final Pattern NAMED = Pattern.compile("`((?:core|config|deploy|docs)/[^`]+)`");
    private static final String CORE = "gateway-core/src/main/java/dev/gateway/";
    private static final String CONFIG = "gateway-config/src/main/java/dev/gateway/config/";

    /**
     * Not part of any list: what builds the image goes by all features, to have their classes loaded; the reference is made
     * of the schema; and reasons are written when there are some.
     */
    private static final Pattern ELSEWHERE =
            Pattern.compile("deploy/image/assemble|docs/(reference|rationale|migration)/.*");

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "A filter; DirectResponse|DIRECT_RESPONSE|directResponse",
                "A balancing policy; RoundRobin|ROUND_ROBIN|roundRobin",
                "A source of endpoints; \\bSrv\\b|SrvSource|\\bsrv:",
                "A metric; onAcceptPaused|ACCEPT_PAUSED|gateway_downstream_accept_pauses",
                "A cause; policy_sni|POLICY_SNI",
                "A protocol; import dev\\.gateway\\.protocol\\.http2\\.|\\bHTTP_2\\b"
            })
    void aListNamesTheFilesThatMentionItsExample(String title, String example) throws IOException {
        assertThat(mentioning(Pattern.compile(example))).isEqualTo(listed(title));
    }

    private static Set<String> listed(String title) throws IOException {
        String text = Files.readString(TOP.resolve("ARCHITECTURE.md"));
        int start = text.indexOf("\n**" + title + "**");
        assertThat(start).as("a list for %s", title).isPositive();
        int next = text.indexOf("\n**", start + 1);
        int end = text.indexOf("\n## ", start);
        Matcher named = NAMED.matcher(text.substring(start, next < 0 ? end : Math.min(next, end)));
        Set<String> files = new TreeSet<>();
        while (named.find()) {
            String name = named.group(1);
            boolean yaml = name.equals("config/edge.yaml");
            files.add(
                    yaml || name.startsWith("deploy/") || name.startsWith("docs/")
                            ? name
                            : name.replaceFirst("^core/", CORE).replaceFirst("^config/", CONFIG));
        }
        return files;
    }

    private static Set<String> mentioning(Pattern example) throws IOException {
        Set<String> files = new TreeSet<>();
        for (String from :
                List.of("gateway-core/src/main/java", "gateway-config/src/main/java", "config", "deploy", "docs")) {
            try (Stream<Path> all = Files.walk(TOP.resolve(from))) {
                for (Path file : all.filter(Files::isRegularFile).toList()) {
                    String name = TOP.relativize(file).toString().replace('\\', '/');
                    boolean ofThePackage = name.startsWith(CORE + "protocol/http2/");
                    if (!ofThePackage
                            && !ELSEWHERE.matcher(name).matches()
                            && example.matcher(read(file)).find()) {
                        files.add(name);
                    }
                }
            }
        }
        return files;
    }

    private static String read(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1);
    }
}
