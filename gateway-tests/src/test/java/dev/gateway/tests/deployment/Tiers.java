package dev.gateway.tests.deployment;

import dev.gateway.tests.deployment.TestSource.TestMethod;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestTag;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.support.descriptor.AbstractTestDescriptor;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TagFilter;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Who runs a test: one of the runs that the POMs declare, with their tags as they are by default, or a part of the full form.
 *
 * @param unit those of Surefire, in any module
 * @param endToEnd those of Failsafe, in gateway-tests
 * @param parts of the full form, which run tests with the tag {@code full} and their name as a tag
 */
record Tiers(List<Run> unit, List<Run> endToEnd, Set<String> parts) {
    static final String FULL = "full";
    private static final Set<String> TAGS = Set.of("alone", "jar", "platform", FULL);
    private static final Pattern PROPERTY = Pattern.compile("\\$\\{([^}]*)}");

    /** A run of tests and the tags that it wants, as one expression, or does not want; blank for any. */
    record Run(String groups, List<String> excluded) {
        boolean runs(Set<String> tags) {
            TestDescriptor test = new AbstractTestDescriptor(UniqueId.forEngine("tiers"), "test") {
                @Override
                public Set<TestTag> getTags() {
                    return tags.stream().map(TestTag::create).collect(Collectors.toSet());
                }

                @Override
                public Type getType() {
                    return Type.TEST;
                }
            };
            List<PostDiscoveryFilter> filters = new ArrayList<>();
            if (!groups.isBlank()) {
                filters.add(TagFilter.includeTags(groups));
            }
            if (!excluded.isEmpty()) {
                filters.add(TagFilter.excludeTags(excluded));
            }
            return filters.stream().allMatch(filter -> filter.apply(test).included());
        }
    }

    /** Reads the POMs, with the defaults of their properties. */
    static Tiers read(Path root, Set<String> parts) throws IOException {
        try {
            Element parent = pom(root.resolve("pom.xml"));
            Element tests = pom(root.resolve("gateway-tests/pom.xml"));
            Map<String, String> properties = new HashMap<>();
            for (Element pom : List.of(parent, tests)) {
                for (Element block : elements(pom, "properties")) {
                    for (Element property : elements(block, "*")) {
                        properties.put(property.getTagName(), property.getTextContent());
                    }
                }
            }
            List<Run> unit = new ArrayList<>();
            for (Element plugin : plugins(parent, "maven-surefire-plugin")) {
                unit.add(run(plugin, properties));
            }
            List<Run> endToEnd = new ArrayList<>();
            for (Element plugin : plugins(tests, "maven-failsafe-plugin")) {
                for (Element execution : elements(plugin, "execution")) {
                    endToEnd.add(run(execution, properties));
                }
            }
            return new Tiers(unit, endToEnd, parts);
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException(e);
        }
    }

    private static Element pom(Path file) throws ParserConfigurationException, IOException, SAXException {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(file.toFile())
                .getDocumentElement();
    }

    private static List<Element> plugins(Element pom, String name) {
        return elements(pom, "plugin").stream()
                .filter(plugin ->
                        name.equals(elements(plugin, "artifactId").get(0).getTextContent()))
                .toList();
    }

    private static List<Element> elements(Element parent, String name) {
        NodeList nodes = parent.getElementsByTagName(name);
        List<Element> elements = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            elements.add((Element) nodes.item(i));
        }
        return elements;
    }

    private static Run run(Element configured, Map<String, String> properties) {
        List<String> excluded = Stream.of(
                        text(configured, "excludedGroups", properties).split(","))
                .filter(tag -> !tag.isBlank())
                .toList();
        return new Run(text(configured, "groups", properties), excluded);
    }

    private static String text(Element configured, String name, Map<String, String> properties) {
        return elements(configured, name).stream()
                .map(element -> PROPERTY.matcher(element.getTextContent())
                        .replaceAll(property -> properties.getOrDefault(property.group(1), "unknown")))
                .collect(Collectors.joining());
    }

    /** Returns what is wrong with tests: those that nobody runs, or two do. */
    List<String> problems(List<TestSource> sources) {
        Set<String> extended = sources.stream()
                .filter(each -> !each.isAbstract())
                .map(TestSource::superclass)
                .collect(Collectors.toSet());
        List<String> problems = new ArrayList<>();
        for (TestSource source : sources) {
            String at = source.module() + ": " + source.name();
            source.remarks().forEach(remark -> problems.add(at + ": " + remark));
            if (source.tests().isEmpty()) {
                continue;
            }
            if (source.isAbstract()) {
                if (!extended.contains(source.name())) {
                    problems.add(at + ": nobody extends it");
                }
            } else if (source.name().endsWith("IT")
                    ? !source.module().equals("gateway-tests")
                    : !source.name().endsWith("Test")) {
                problems.add(
                        at
                                + ": unit tests are in classes named *Test, end-to-end tests in classes of gateway-tests named *IT");
            }
            for (TestMethod test : source.tests()) {
                String problem = problem(source.name().endsWith("IT") ? endToEnd : unit, test.tags());
                if (!problem.isEmpty()) {
                    problems.add(at + "." + test.name() + ": " + problem);
                }
            }
        }
        return problems;
    }

    private String problem(List<Run> runs, Set<String> tags) {
        Set<String> unknown = new TreeSet<>(tags);
        unknown.removeAll(TAGS);
        unknown.removeAll(parts);
        if (!unknown.isEmpty()) {
            return "nobody knows the tags " + unknown;
        }
        long named = tags.stream().filter(parts::contains).count();
        long times = runs.stream().filter(run -> run.runs(tags)).count();
        if (tags.contains(FULL)) {
            return times == 0 && named == 1
                    ? ""
                    : "mvn verify runs it " + times + " times, and its tags name " + named + " parts of the full form";
        }
        return times == 1 && named == 0
                ? ""
                : "mvn verify runs it " + times + " times, and without the tag full its tags name " + named
                        + " parts of the full form";
    }
}
