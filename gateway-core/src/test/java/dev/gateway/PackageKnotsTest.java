package dev.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Classes of a package depend on each other in one direction: they form no knot (a strongly connected component). {@code
 * knots.txt} lists the exceptions, each a whole and its parts: a part may know its whole.
 */
class PackageKnotsTest {
    private static final String ROOT = "dev.gateway.";

    /** A part of a whole; both are names of classes. */
    private record Part(String name, String whole) {}

    private final Map<String, Set<String>> uses = uses();
    private final List<Part> parts = new ArrayList<>();

    PackageKnotsTest() throws IOException {
        try (InputStream in = Objects.requireNonNull(PackageKnotsTest.class.getResourceAsStream("/knots.txt"))) {
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .forEach(this::addParts);
        }
    }

    private void addParts(String line) {
        String[] words = line.split(":? ", -1);
        String whole = ROOT + words[0];
        for (String part : Arrays.asList(words).subList(1, words.length)) {
            parts.add(new Part(whole.substring(0, whole.lastIndexOf('.') + 1) + part, whole));
        }
    }

    @Test
    void onlyListedPartsKnowTheirWhole() {
        for (Part part : parts) {
            assertThat(uses.getOrDefault(part.name(), Set.of())).as(part.name()).contains(part.whole());
            assertThat(reachedFrom(part.whole(), uses)).as(part.whole()).contains(part.name());
        }
        parts.forEach(part -> uses.getOrDefault(part.name(), new HashSet<>()).remove(part.whole()));
        assertThat(knots()).isEmpty();
    }

    /** Returns the classes of its package that each class uses. */
    private static Map<String, Set<String>> uses() {
        JavaClasses classes = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("dev.gateway");
        Map<String, Set<String>> uses = new HashMap<>();
        for (JavaClass each : classes) {
            Set<String> used = uses.computeIfAbsent(topLevel(each), name -> new HashSet<>());
            for (Dependency dependency : each.getDirectDependenciesFromSelf()) {
                JavaClass target = dependency.getTargetClass().getBaseComponentType();
                if (target.getPackageName().equals(each.getPackageName())) {
                    used.add(topLevel(target));
                }
            }
        }
        return uses;
    }

    /** Returns a line for each knot: the classes that reach each other. */
    private Set<String> knots() {
        Map<String, Set<String>> reached = new HashMap<>();
        uses.keySet().forEach(each -> reached.put(each, reachedFrom(each, uses)));
        Set<String> knots = new TreeSet<>();
        for (String each : uses.keySet()) {
            Set<String> knot = reached.getOrDefault(each, Set.of()).stream()
                    .filter(other -> reached.getOrDefault(other, Set.of()).contains(each))
                    .collect(Collectors.toCollection(TreeSet::new));
            if (knot.size() > 1) {
                knots.add(String.join(" ", knot));
            }
        }
        return knots;
    }

    private static Set<String> reachedFrom(String start, Map<String, Set<String>> uses) {
        Set<String> reached = new HashSet<>();
        Deque<String> next = new ArrayDeque<>(List.of(start));
        while (!next.isEmpty()) {
            for (String used : new ArrayList<>(uses.getOrDefault(next.remove(), Set.of()))) {
                if (reached.add(used)) {
                    next.add(used);
                }
            }
        }
        return reached;
    }

    private static String topLevel(JavaClass each) {
        String name = each.getName();
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }
}
