package dev.gateway.tests.deployment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a source file among the tests says of itself: lines that begin with an annotation, as the formatter puts them.
 *
 * @param module the directory of its module
 * @param name the name of its class
 * @param superclass the class that it extends, or an empty string
 * @param tests its test methods, without those that it inherits
 * @param remarks what keeps a test from running, or keeps the tiers from being known
 */
record TestSource(
        String module,
        String name,
        boolean isAbstract,
        String superclass,
        List<TestMethod> tests,
        List<String> remarks) {
    /** A test method and its tags, including those of the class. */
    record TestMethod(String name, Set<String> tags) {}

    static final List<String> MODULES = List.of("gateway-config", "gateway-core", "gateway-tests", "benchmarks");

    private static final Pattern TEST = Pattern.compile(
            "( *)@(?:Test|ParameterizedTest|CrossPairingTest|RepeatedTest|TestFactory|TestTemplate|ArchTest)\\b.*");
    private static final Pattern TAG = Pattern.compile("( *)@Tags?\\b(?:\\(\"([^\"]*)\"\\))?.*");
    private static final Pattern CONDITION = Pattern.compile(" *@((?:Disabled|Enabled)\\w*).*");
    private static final Pattern TYPE = Pattern.compile(
            "(?:[a-z]+ )*(class|interface|record|enum|@interface) \\w+(?:<[^{]*>)?(?: extends (\\w+))?.*");
    private static final Pattern MEMBER = Pattern.compile(" {4}[\\w<][\\w<>\\[\\], ?.]*?\\b(\\w+)(?:\\(| =).*");

    /** Reads all sources of tests of a module. */
    static List<TestSource> of(Path root, String module) throws IOException {
        List<TestSource> sources = new ArrayList<>();
        try (Stream<Path> files = Files.walk(root.resolve(module).resolve("src/test/java"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                String name = file.getFileName().toString().replace(".java", "");
                sources.add(parse(module, name, Files.readString(file)));
            }
        }
        return sources;
    }

    static TestSource parse(String module, String name, String text) {
        List<TestMethod> tests = new ArrayList<>();
        List<String> remarks = new ArrayList<>();
        Set<String> ofClass = new LinkedHashSet<>();
        Set<String> ofMethod = new LinkedHashSet<>();
        boolean isAbstract = false;
        boolean typeSeen = false;
        boolean isTest = false;
        String superclass = "";
        for (String line : text.split("\n")) {
            Matcher test = TEST.matcher(line);
            Matcher tag = TAG.matcher(line);
            Matcher condition = CONDITION.matcher(line);
            Matcher type = TYPE.matcher(line);
            Matcher member = MEMBER.matcher(line);
            if (test.matches()) {
                if (test.group(1).length() != 4) {
                    remarks.add("a test in a nested class is not found");
                } else if (isTest) {
                    remarks.add("the method of a test annotation is not understood");
                } else {
                    isTest = true;
                }
            } else if (tag.matches()) {
                if (tag.group(2) == null) {
                    remarks.add("a tag is a text, so that this check can read it");
                } else {
                    (tag.group(1).isEmpty() ? ofClass : ofMethod).add(tag.group(2));
                }
            } else if (condition.matches()) {
                remarks.add("@" + condition.group(1) + " leaves out tests");
            } else if (!typeSeen && type.matches()) {
                typeSeen = true;
                // Such as CrossPairingTest, which has the annotations of a test.
                if (type.group(1).equals("@interface")) {
                    return new TestSource(module, name, true, "", List.of(), List.of());
                }
                isAbstract = line.contains("abstract class") || !type.group(1).equals("class");
                superclass = type.group(2) == null ? "" : type.group(2);
            } else if (member.matches()) {
                if (isTest) {
                    ofMethod.addAll(ofClass);
                    tests.add(new TestMethod(member.group(1), Set.copyOf(ofMethod)));
                } else if (!ofMethod.isEmpty()) {
                    remarks.add(member.group(1) + " has a tag, but is no test");
                }
                isTest = false;
                ofMethod.clear();
            }
        }
        if (isTest) {
            remarks.add("the method of a test annotation is not understood");
        }
        if (!typeSeen) {
            isAbstract = true; // package-info
        }
        return new TestSource(module, name, isAbstract, superclass, tests, remarks);
    }
}
