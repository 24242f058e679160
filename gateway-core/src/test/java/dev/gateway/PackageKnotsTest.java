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
 * Classes of a package depend on each other in one direction, too. Where they do not yet, the classes that reach each other
 * form a knot (a strongly connected component); {@code knots.txt} lists those that are left, and may only become shorter.
 */
class PackageKnotsTest {
    @Test
    void noKnotIsNewOrHasGrown() throws IOException {
        assertThat(String.join("\n", knots())).isEqualTo(String.join("\n", listed()));
    }

    private static List<String> listed() throws IOException {
        try (InputStream in = Objects.requireNonNull(PackageKnotsTest.class.getResourceAsStream("/knots.txt"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        }
    }

    /** Returns a line for each knot: its package, then its classes. */
    private static Set<String> knots() {
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
        Map<String, Set<String>> reached = new HashMap<>();
        uses.keySet().forEach(each -> reached.put(each, reachedFrom(each, uses)));
        Set<String> knots = new TreeSet<>();
        for (String each : uses.keySet()) {
            Set<String> knot = reached.getOrDefault(each, Set.of()).stream()
                    .filter(other -> reached.getOrDefault(other, Set.of()).contains(each))
                    .collect(Collectors.toCollection(TreeSet::new));
            if (knot.size() > 1) {
                int dot = each.lastIndexOf('.');
                knots.add(each.substring("dev.gateway".length(), dot).replaceFirst("^\\.", "") + ": "
                        + knot.stream().map(name -> name.substring(dot + 1)).collect(Collectors.joining(" ")));
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
