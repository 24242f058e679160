import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Says how many tests of a build were skipped, and why: {@code java SkippedTests.java ROOT BEGIN}. It reads the reports of
 * Surefire and Failsafe of all modules. Those from before the build began are of another build. Without {@code BEGIN} it
 * reads all reports, and writes a line {@code CLASS: TEST: REASON} for each skipped test.
 */
final class SkippedTests {
    private static final String ASSUMPTION = "Assumption failed: ";

    private SkippedTests() {}

    public static void main(String[] args) throws Exception {
        boolean each = args.length == 1;
        Instant begin = each ? Instant.EPOCH : Instant.parse(args[1]);
        Map<String, Integer> found = new TreeMap<>();
        for (String kind : new String[] {"surefire", "failsafe"}) {
            int reports = 0;
            try (DirectoryStream<Path> modules = Files.newDirectoryStream(Path.of(args[0]), "{gateway-*,benchmarks}")) {
                for (Path module : modules) {
                    reports += read(module.resolve("target").resolve(kind + "-reports"), begin, each, found);
                }
            }
            if (each && reports == 0) {
                found.put(kind + ": there are no reports", 1);
            }
        }
        if (each) {
            found.keySet().forEach(System.out::println);
        } else {
            System.out.println(summary(found));
        }
    }

    /** Returns how many reports there are. */
    private static int read(Path directory, Instant begin, boolean each, Map<String, Integer> found)
            throws IOException, ParserConfigurationException, SAXException {
        int read = 0;
        if (!Files.isDirectory(directory)) {
            return read;
        }
        try (DirectoryStream<Path> reports = Files.newDirectoryStream(directory, "TEST-*.xml")) {
            for (Path report : reports) {
                if (Files.getLastModifiedTime(report).toInstant().isBefore(begin)) {
                    continue;
                }
                read++;
                NodeList skipped = DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(report.toFile())
                        .getElementsByTagName("skipped");
                for (int i = 0; i < skipped.getLength(); i++) {
                    Element one = (Element) skipped.item(i);
                    String reason = reason(one);
                    found.merge(each ? name((Element) one.getParentNode()) + ": " + reason : reason, 1, Integer::sum);
                }
            }
        }
        return read;
    }

    private static String name(Element test) {
        return test.getAttribute("classname") + ": " + test.getAttribute("name");
    }

    private static String reason(Element skipped) {
        // An annotation gives a message; an assumption throws, and the text begins with the name of the exception.
        String thrown = skipped.getAttribute("type") + ": ";
        String text = skipped.hasAttribute("message") ? skipped.getAttribute("message") : skipped.getTextContent();
        String whole = text.startsWith(thrown) ? text.substring(thrown.length()) : text;
        String message = whole.strip().lines().findFirst().orElse("");
        String reason = message.startsWith(ASSUMPTION) ? message.substring(ASSUMPTION.length()) : message;
        return reason.isBlank() ? "no reason is given" : reason;
    }

    private static String summary(Map<String, Integer> reasons) {
        int all = reasons.values().stream().mapToInt(Integer::intValue).sum();
        if (all == 0) {
            return "no test was skipped";
        }
        StringBuilder summary = new StringBuilder(all == 1 ? "1 test was skipped:" : all + " tests were skipped:");
        reasons.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .forEach(reason -> summary.append("\n  %4d: %s".formatted(reason.getValue(), reason.getKey())));
        return summary.toString();
    }
}
