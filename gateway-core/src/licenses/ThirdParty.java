import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * Gathers the licences and notices of the libraries in {@code gateway.jar}: {@code java ThirdParty.java SBOM DIRECTORY
 * CLASSPATH}. Each component of the bill of materials (CycloneDX, XML) is in the list {@code THIRD-PARTY.txt}, and each
 * different text is there once. Texts come from the library's own jar, and from {@code texts}. The build fails if a
 * component has no text, or a licence that nobody has chosen: see {@code components.txt}.
 *
 * <p>Writes {@code DIRECTORY/licenses} for the archives, and for the jar the same in two files: {@code THIRD-PARTY.txt},
 * the list and the licences, and {@code NOTICE.txt}, the notices.
 */
final class ThirdParty {
    private static final Path HERE = Path.of("src/licenses");
    private static final Path OWN_LICENCE = Path.of("../LICENSE");
    private static final Pattern TEXT =
            Pattern.compile("(META-INF/)?(license/)?(LICENSE|NOTICE)[^/]*|META-INF/resources/webjars/.*/LICENSE\\.md");

    /** A library as the bill of materials names it. */
    private record Component(String group, String name, String version, String classifier, List<String> licences) {
        String id() {
            return group + ":" + name;
        }

        String file() {
            return name + "-" + version + (classifier.isEmpty() ? "" : "-" + classifier) + ".jar";
        }

        @Override
        public String toString() {
            return id() + " " + version + (classifier.isEmpty() ? "" : " " + classifier);
        }
    }

    /** A row of {@code components.txt}. */
    private record Row(String prefix, List<String> licences, List<String> texts, String remark) {}

    private final List<Row> rows;
    private final Map<String, Path> jars = new TreeMap<>();

    /** The texts by their file names, and those names by the words of the texts. */
    private final Map<String, String> texts = new TreeMap<>();

    private final Map<String, String> names = new TreeMap<>();

    private ThirdParty(String classPath) throws IOException {
        try (Stream<String> lines = Files.lines(HERE.resolve("components.txt"))) {
            rows = lines.filter(line -> !line.startsWith("#"))
                    .map(ThirdParty::row)
                    .toList();
        }
        for (String element : classPath.split(File.pathSeparator)) {
            Path jar = Path.of(element);
            String name = jar.getFileName().toString();
            if (name.endsWith(".jar") && !name.startsWith("gateway-")) { // our own modules
                jars.put(name, jar);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path sbom = Path.of(arguments[0]);
        Path directory = Path.of(arguments[1]);
        if (!Files.exists(sbom)) { // the plugin that makes it does not run with --offline
            System.out.println("gateway.jar gets no bill of materials and no licences: build it once without --offline");
            return;
        }
        List<Component> components = components(sbom);
        ThirdParty thirdParty = new ThirdParty(arguments[2]);
        thirdParty.compare(sbom, components);
        Map<String, StringBuilder> groups = new TreeMap<>();
        for (Component component : components) {
            groups.computeIfAbsent(thirdParty.terms(component), StringBuilder::new)
                    .append("    ")
                    .append(component)
                    .append('\n');
        }
        String list = "The libraries in gateway.jar by their licences.\n\n" + String.join("\n", groups.values());
        thirdParty.write(directory, list);
    }

    /** With --offline the bill of materials may be that of an earlier build. */
    private void compare(Path sbom, List<Component> components) {
        Set<String> listed = new TreeSet<>();
        components.forEach(component -> listed.add(component.file()));
        Set<String> missing = new TreeSet<>(jars.keySet());
        missing.removeAll(listed);
        listed.removeAll(jars.keySet());
        if (!missing.isEmpty() || !listed.isEmpty()) {
            throw new IllegalStateException(sbom + " lacks " + missing + " and lists " + listed
                    + ", which is no library of this build: build once without --offline");
        }
    }

    private static Row row(String line) {
        String[] cells = line.split("\\|", -1);
        return new Row(cells[0].strip(), words(cells[1], ","), words(cells[2], " "), cells[3].strip());
    }

    private static List<String> words(String cell, String separator) {
        return Stream.of(cell.split(separator))
                .map(String::strip)
                .filter(Predicate.not(String::isEmpty))
                .toList();
    }

    private static List<Component> components(Path sbom) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setNamespaceAware(true);
        Element bom = factory.newDocumentBuilder().parse(sbom.toFile()).getDocumentElement();
        List<Component> components = new ArrayList<>();
        for (Element element : children(child(bom, "components"))) {
            List<String> licences = new ArrayList<>();
            Element named = child(element, "licenses");
            for (Element licence : named == null ? List.<Element>of() : children(named)) {
                Element id = child(licence, "id");
                licences.add((id != null ? id : child(licence, "name")).getTextContent());
            }
            var classifier = Pattern.compile("[?&]classifier=([^&]+)")
                    .matcher(child(element, "purl").getTextContent());
            Component component = new Component(
                    child(element, "group").getTextContent(),
                    child(element, "name").getTextContent(),
                    child(element, "version").getTextContent(),
                    classifier.find() ? classifier.group(1) : "",
                    licences);
            if (!component.group.equals("dev.gateway")) {
                components.add(component);
            }
        }
        components.sort(Comparator.comparing(Component::toString));
        return components;
    }

    private static List<Element> children(Element parent) {
        List<Element> children = new ArrayList<>();
        for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element) {
                children.add(element);
            }
        }
        return children;
    }

    private static Element child(Element parent, String name) {
        return children(parent).stream()
                .filter(e -> e.getLocalName().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** Returns under which licence a component is taken, and the names of its texts. */
    private String terms(Component component) throws IOException {
        Row row = rows.stream()
                .filter(r -> component.id().startsWith(r.prefix))
                .max(Comparator.comparingInt(r -> r.prefix.length()))
                .orElseGet(() ->
                        new Row("", component.licences.size() == 1 ? component.licences : List.of(), List.of(), ""));
        String licence = row.licences.stream()
                .filter(component.licences::contains)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(component + " offers " + component.licences + ": say in "
                        + HERE.resolve("components.txt") + " which of them is taken"));
        Set<String> files = new LinkedHashSet<>();
        Path common = licence.equals("Apache-2.0") ? OWN_LICENCE : HERE.resolve("texts/" + licence + ".txt");
        if (Files.exists(common)) {
            files.add(keep(licence + ".txt", Files.readString(common)));
        }
        for (String name : row.texts) {
            files.add(keep(name + ".txt", Files.readString(HERE.resolve("texts/" + name + ".txt"))));
        }
        files.addAll(ofJar(component));
        if (files.stream().allMatch(ThirdParty::isNotice)) {
            throw new IllegalStateException(
                    component + ": neither its jar nor " + HERE + " has the text of " + licence);
        }
        String remark = row.remark.isEmpty() ? "" : " (" + row.remark + ")";
        return licence + remark + "\n  texts: " + String.join(" ", files) + "\n";
    }

    private Set<String> ofJar(Component component) throws IOException {
        Path jar = jars.get(component.file());
        if (jar == null) {
            throw new IllegalStateException(component.file() + " is not on the class path");
        }
        Set<String> files = new LinkedHashSet<>();
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            for (ZipEntry entry : zip.stream()
                    .filter(e -> !e.isDirectory() && TEXT.matcher(e.getName()).matches())
                    .sorted(Comparator.comparing(ZipEntry::getName))
                    .toList()) {
                String name = entry.getName().substring(entry.getName().lastIndexOf('/') + 1);
                String suffix =
                        name.replaceFirst("\\.(txt|md)$", "").replace('.', '-').toLowerCase();
                String text = new String(zip.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8);
                files.add(keep(component.name + "-" + suffix + ".txt", text));
            }
        }
        return files;
    }

    /** Keeps a text unless there is one of the same words, and returns the name that it has. */
    private String keep(String name, String text) {
        String words =
                text.replace("https:", "http:").replaceAll("[^A-Za-z0-9]+", " ").strip();
        String kept = names.computeIfAbsent(words, unused -> name);
        if (kept.equals(name)) {
            String other = texts.putIfAbsent(name, text.replace("\r\n", "\n").strip() + "\n");
            if (other != null && !other.equals(texts.get(name))) {
                throw new IllegalStateException("two texts would be " + name);
            }
        }
        return kept;
    }

    private static boolean isNotice(String file) {
        return file.contains("notice");
    }

    private void write(Path directory, String list) throws IOException {
        Path licences = Files.createDirectories(directory.resolve("licenses"));
        try (Stream<Path> old = Files.list(licences)) {
            for (Path file : old.toList()) {
                Files.delete(file);
            }
        }
        Files.writeString(licences.resolve("THIRD-PARTY.txt"), list);
        StringBuilder all = new StringBuilder(list);
        StringBuilder notices = new StringBuilder();
        for (Map.Entry<String, String> text : texts.entrySet()) {
            Files.writeString(licences.resolve(text.getKey()), text.getValue());
            (isNotice(text.getKey()) ? notices : all)
                    .append("\n\n=== ")
                    .append(text.getKey())
                    .append(" ===\n\n")
                    .append(text.getValue());
        }
        Files.writeString(directory.resolve("THIRD-PARTY.txt"), all);
        Files.writeString(directory.resolve("NOTICE.txt"), notices.toString().strip() + "\n");
    }
}
