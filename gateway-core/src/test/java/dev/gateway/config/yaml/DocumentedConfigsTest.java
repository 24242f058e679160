package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.LoadResult;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every configuration in the documents loads, and what they show of wrong ones is what {@code validate} says. */
class DocumentedConfigsTest {
    private static final Pattern FILE = Pattern.compile("\\b(file|[a-z]+File): ([\\w./-]+)");
    private static final Pattern VALIDATE = Pattern.compile("\\$ gateway validate (\\S+)\\n((?:(?!\\$ |```).*\\n)+)");

    /** What a file holds that a configuration names by a key: what the tests of this module have, or one line. */
    private static final Map<String, String> CONTENTS = Map.ofEntries(
            Map.entry("certFile", "tls/server.crt"),
            Map.entry("keyFile", "tls/server.key"),
            Map.entry("caFile", "tls/server.crt"),
            Map.entry("usersFile", "frames/users"),
            Map.entry("keysFile", "frames/keys"),
            Map.entry("tokensFile", "secrets/tokens"),
            Map.entry("groupsFile", "secrets/groups"),
            Map.entry("credentialsFile", "secrets/parent"),
            Map.entry("tokenFile", "secrets/header"),
            Map.entry("valueFile", "secrets/header"),
            Map.entry("file", "broken/endpoints.txt"));

    @TempDir
    private Path directory;

    static Stream<DocumentedYaml> configurations() throws IOException {
        return DocumentedYaml.all().stream().filter(DocumentedYaml::isConfiguration);
    }

    @ParameterizedTest
    @MethodSource("configurations")
    void everyConfigurationInTheDocumentsLoads(DocumentedYaml block) throws IOException {
        String yaml = block.completed();
        makeFiles(yaml);
        LoadResult result =
                ConfigLoader.parse(block.place(), yaml.getBytes(StandardCharsets.UTF_8), directory, Map.of());
        if (block.isInvalid()) {
            assertThat(result).isInstanceOf(LoadResult.Invalid.class);
        } else if (block.isWhole()) {
            assertThat(result.problems()).isEmpty();
        } else {
            assertThat(result).as(() -> yaml + result.problems()).isInstanceOf(LoadResult.Valid.class);
        }
    }

    private void makeFiles(String yaml) throws IOException {
        Matcher named = FILE.matcher(yaml);
        while (named.find()) {
            String own = named.group(2);
            boolean exists = own.startsWith("tls/other."); // a second certificate, with other names
            String content = exists ? own : CONTENTS.get(named.group(1));
            Path file = directory.resolve(named.group(2));
            Files.createDirectories(file.getParent());
            if (file.endsWith("session-keys")) {
                Files.writeString(file, "0123456789abcdef0123456789abcdef\n");
            } else if (content != null && !Files.exists(file)) {
                Files.copy(Path.of("src/test/resources", content), file);
            } else if (named.group(1).equals("headersFile")) {
                Files.writeString(file, "Authorization: Bearer x\n");
            }
        }
    }

    @Test
    void theDocumentsShowWholeConfigurationsAndParts() throws IOException {
        assertThat(configurations().filter(block -> block.place().startsWith("README.md")))
                .hasSizeGreaterThanOrEqualTo(3)
                .allMatch(DocumentedYaml::isWhole);
        assertThat(configurations().filter(block -> block.place().startsWith("docs/")))
                .anyMatch(DocumentedYaml::isWhole)
                .anyMatch(block -> !block.isWhole())
                .anyMatch(DocumentedYaml::isInvalid);
    }

    @Test
    void validateSaysWhatTheDocumentsShow() throws IOException {
        List<String> shown = new ArrayList<>();
        for (DocumentedYaml block :
                configurations().filter(DocumentedYaml::isInvalid).toList()) {
            Path document = DocumentedYaml.TOP.resolve(block.place().replaceFirst(":.*", ""));
            String text = Files.readString(document);
            Matcher session = VALIDATE.matcher(text);
            assertThat(session.find(text.indexOf(block.yaml())))
                    .as("%s shows what validate says", document)
                    .isTrue();
            LoadResult result = ConfigLoader.parse(
                    session.group(1), block.yaml().getBytes(StandardCharsets.UTF_8), directory, Map.of());
            assertThat(session.group(2).lines())
                    .as(block.place())
                    .hasSizeGreaterThan(1)
                    .isEqualTo(result.problems().stream().map(Object::toString).toList());
            shown.add(block.place());
        }
        assertThat(shown).isNotEmpty();
    }
}
