package dev.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/** The table of docs/development/dependencies.md has those of the POMs, and who needs each is what their scopes say. */
class DependencyTableTest {
    private static final Path TOP = Path.of("..");
    private static final Pattern ROW = Pattern.compile("\\| (`.+?`) \\| (library|process|tests) \\| \\S.* \\|");
    private static final Pattern NAME = Pattern.compile("`([^`]+)`");

    /** From those who are served first. */
    private enum NeededBy {
        LIBRARY,
        PROCESS,
        TESTS
    }

    @Test
    void theTableHasTheDependenciesOfThePoms() throws Exception {
        assertThat(table()).isEqualTo(poms());
    }

    /** They must find all they need where this build was cached, and show what is current. */
    @ParameterizedTest
    @ValueSource(strings = {"gateway-tests/embedding", "docs/plugin-example"})
    void anExampleProjectNamesTheVersionsOfThisBuild(String directory) throws Exception {
        Element top = project("");
        Element properties = child(top, "properties");
        Map<String, String> versions = versions(top, "plugin");
        versions.put("gateway-core", text(child(top, "version")));
        versions.put("logback-classic", text(child(properties, "logback.version")));
        versions.put("junit-jupiter", text(child(properties, "junit.version")));
        Element example = project(directory);
        Map<String, String> named = versions(example, "plugin");
        named.putAll(versions(example, "dependency"));
        assertThat(named).isNotEmpty().allSatisfy((artifact, version) -> assertThat(version)
                .as("version of %s in %s/pom.xml", artifact, directory)
                .isEqualTo(versions.get(artifact)));
    }

    private static Map<String, String> versions(Element project, String kind) {
        Map<String, String> versions = new TreeMap<>();
        NodeList all = project.getElementsByTagName(kind);
        for (int i = 0; i < all.getLength(); i++) {
            Element each = (Element) all.item(i);
            if (!text(each, "version").isEmpty()) {
                versions.put(text(each, "artifactId"), text(each, "version"));
            }
        }
        return versions;
    }

    private static Element project(String directory) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(TOP.resolve(directory).resolve("pom.xml").toFile())
                .getDocumentElement();
    }

    private static Map<String, NeededBy> table() throws IOException {
        String text = Files.readString(TOP.resolve("docs/development/dependencies.md"));
        Map<String, NeededBy> table = new TreeMap<>();
        for (String line : text.lines().toList()) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                NeededBy who = NeededBy.valueOf(row.group(2).toUpperCase(Locale.ROOT));
                NAME.matcher(row.group(1)).results().forEach(name -> table.put(name.group(1), who));
            }
        }
        return table;
    }

    private static Map<String, NeededBy> poms() throws Exception {
        Map<String, NeededBy> poms = new TreeMap<>();
        for (String module : List.of("", "gateway-config", "gateway-core", "gateway-tests", "benchmarks")) {
            NodeList all = child(project(module), "dependencies").getElementsByTagName("dependency");
            for (int i = 0; i < all.getLength(); i++) {
                Element dependency = (Element) all.item(i);
                if (!text(dependency, "groupId").equals("dev.gateway")) {
                    poms.merge(
                            text(dependency, "artifactId"),
                            neededBy(dependency),
                            (one, other) -> one.compareTo(other) < 0 ? one : other);
                }
            }
        }
        return poms;
    }

    private static NeededBy neededBy(Element dependency) {
        return text(dependency, "scope").equals("test")
                ? NeededBy.TESTS
                : text(dependency, "optional").equals("true") ? NeededBy.PROCESS : NeededBy.LIBRARY;
    }

    private static String text(Element element, String name) {
        Element found = find(element, name);
        return found == null ? "" : text(found);
    }

    private static String text(Element element) {
        return element.getTextContent();
    }

    private static Element child(Element parent, String name) {
        return Objects.requireNonNull(find(parent, name), name);
    }

    private static @Nullable Element find(Element parent, String name) {
        for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element && element.getTagName().equals(name)) {
                return element;
            }
        }
        return null;
    }
}
