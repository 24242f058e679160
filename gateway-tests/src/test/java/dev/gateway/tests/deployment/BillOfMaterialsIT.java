package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.support.Tools;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The bill of materials names what is in {@code gateway.jar}, and the licence of each library is there. */
@Tag("jar")
@Timeout(120)
class BillOfMaterialsIT {
    private static final Path BUILT = Path.of("../gateway-core/target");
    private static final String SBOM = "META-INF/sbom/gateway.cdx.json";
    private static final Pattern CODE =
            Pattern.compile(".*\\.(class|so|jnilib|dll)|META-INF/resources/webjars/.*\\.js");
    private static final Pattern TEXT = Pattern.compile("(META-INF/)?(license/)?(LICENSE|NOTICE)[^/]*");

    private static Map<String, String> texts;
    private static Set<String> code;

    /** The libraries by the names of their jars. */
    private static Map<String, JsonNode> components;

    @TempDir
    private Path directory;

    @BeforeAll
    static void readJar() throws IOException {
        Path jar = BUILT.resolve("gateway.jar");
        if (!Files.exists(jar)) {
            Tools.missing(jar + " is not built: mvn package makes it");
        }
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            if (zip.getEntry(SBOM) == null) {
                Tools.missing(jar + " was built with --offline: it has no bill of materials");
            }
            code = code(zip);
            texts = new HashMap<>();
            for (String name : List.of(SBOM, "META-INF/THIRD-PARTY.txt", "META-INF/NOTICE", "META-INF/LICENSE")) {
                texts.put(name, text(zip, zip.getEntry(name)));
            }
        }
        components = new HashMap<>();
        for (JsonNode component : new ObjectMapper().readTree(texts.get(SBOM)).get("components")) {
            components.put(file(component), component);
        }
    }

    private static String file(JsonNode component) {
        var classifier = Pattern.compile("[?&]classifier=([^&]+)")
                .matcher(component.get("purl").asText());
        return component.get("name").asText() + "-" + component.get("version").asText()
                + (classifier.find() ? "-" + classifier.group(1) : "") + ".jar";
    }

    private static String text(ZipFile zip, ZipEntry entry) throws IOException {
        return new String(zip.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8);
    }

    private static Set<String> code(ZipFile zip) {
        return zip.stream()
                .map(ZipEntry::getName)
                .filter(name -> CODE.matcher(name).matches() && !name.endsWith("module-info.class"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the jar of a component, which the class path of the tests has, too. */
    private static Path jar(String file) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .filter(path -> path.endsWith(file) && Files.isRegularFile(path))
                .findFirst()
                .orElseThrow(() -> new AssertionError(file + " is not on the class path"));
    }

    private static boolean isOurs(JsonNode component) {
        return component.get("group").asText().equals("dev.gateway");
    }

    @Test
    void eachLibraryThatIsListedIsInTheJar() throws IOException {
        assertThat(components).hasSizeGreaterThan(40);
        for (String file : components.keySet()) {
            try (ZipFile zip = new ZipFile(jar(file).toFile())) {
                Set<String> its = code(zip);
                if (!its.isEmpty()) { // some jars only lead to others
                    assertThat(its).as(file).containsAnyElementsOf(code);
                }
            }
        }
    }

    @Test
    void whatIsInTheJarIsOfALibraryThatIsListed() throws IOException {
        Set<String> unknown = new TreeSet<>(code);
        unknown.removeIf(name -> name.startsWith("dev/gateway/"));
        assertThat(unknown).hasSizeGreaterThan(5_000);
        for (String file : components.keySet()) {
            try (ZipFile zip = new ZipFile(jar(file).toFile())) {
                unknown.removeAll(code(zip));
            }
        }
        assertThat(unknown).isEmpty();
    }

    @Test
    void eachLibraryHasItsLicenceInTheJar() {
        String list = texts.get("META-INF/THIRD-PARTY.txt");
        String all = list + texts.get("META-INF/NOTICE");
        for (JsonNode component : components.values()) {
            if (isOurs(component)) {
                continue;
            }
            String name = component.get("group").asText() + ":"
                    + component.get("name").asText() + " "
                    + component.get("version").asText();
            List<String> terms = Stream.of(list.split("\n\n"))
                    .filter(group -> (group + "\n").matches("(?s).*\n    " + Pattern.quote(name) + "[ \n].*"))
                    .toList();
            assertThat(terms).as(name).isNotEmpty();
            for (String group : terms) {
                String[] files = group.lines()
                        .filter(line -> line.startsWith("  texts: "))
                        .findFirst()
                        .orElseThrow()
                        .substring("  texts: ".length())
                        .split(" ");
                assertThat(files).as(name).anyMatch(file -> list.contains("\n=== " + file + " ===\n"));
                assertThat(files)
                        .as(name)
                        .allMatch(file ->
                                all.contains("\n\n=== " + file + " ===\n") || all.contains("=== " + file + " ===\n"));
            }
        }
        assertThat(texts.get("META-INF/LICENSE")).contains("Apache License");
    }

    /** What a library says in its own jar has not got lost on the way. */
    @Test
    void licencesAndNoticesOfLibrariesAreWhole() throws IOException {
        String all = words(texts.get("META-INF/THIRD-PARTY.txt") + texts.get("META-INF/NOTICE"));
        int found = 0;
        for (String file : components.keySet()) {
            try (ZipFile zip = new ZipFile(jar(file).toFile())) {
                for (ZipEntry entry : zip.stream()
                        .filter(e -> TEXT.matcher(e.getName()).matches())
                        .toList()) {
                    assertThat(all.contains(words(text(zip, entry))))
                            .as(entry + " of " + file)
                            .isTrue();
                    found++;
                }
            }
        }
        assertThat(found).isGreaterThan(10);
    }

    private static String words(String text) {
        return text.replace("https:", "http:").replaceAll("[^A-Za-z0-9]+", " ").strip();
    }

    @Test
    void codeInsideOfLibrariesIsNotForgotten() {
        assertThat(texts.get("META-INF/THIRD-PARTY.txt"))
                .contains("Jukka Kurkela", "=== kurkle-color.txt ===") // in Chart.js
                .contains("contain BoringSSL", "license-boringssl.txt ===") // in tcnative
                .contains("taken under the EPL");
        assertThat(texts.get("META-INF/NOTICE")).contains("The Netty Project", "Micrometer", "Tomcat Native");
    }

    @Test
    void theArchiveHasTheSame() throws Exception {
        List<Path> archives;
        try (Stream<Path> files = Files.list(BUILT)) {
            archives = files.filter(file -> file.toString().endsWith(".tar.gz")).toList();
        }
        assertThat(archives).isNotEmpty();
        for (Path archive : archives) {
            Path unpacked = Files.createDirectory(directory.resolve(archive.getFileName()));
            Tools.Result result =
                    Tools.run("tar", "-xzf", archive.toString(), "-C", unpacked.toString(), "--strip-components=1");
            assertThat(result.exit()).as(result.output()).isZero();
            assertThat(unpacked.resolve("gateway.cdx.json")).hasContent(texts.get(SBOM));
            String all = texts.get("META-INF/THIRD-PARTY.txt") + texts.get("META-INF/NOTICE");
            try (Stream<Path> licences = Files.list(unpacked.resolve("licenses"))) {
                assertThat(licences.toList()).hasSizeGreaterThan(15).allSatisfy(file -> assertThat(all)
                        .contains(Files.readString(file)));
            }
        }
        assertThat(BUILT.resolve("gateway.cdx.json")).hasContent(texts.get(SBOM));
    }

    @Test
    void nothingInItIsOfTheMomentOfTheBuild() throws IOException {
        assertThat(new ObjectMapper().readTree(texts.get(SBOM)).get("metadata").has("timestamp"))
                .isFalse();
    }
}
