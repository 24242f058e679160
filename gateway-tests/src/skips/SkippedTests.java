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
 * Surefire and Failsafe of all modules. Those from before the build began are of another build.
 */
final class SkippedTests {
    private static final String ASSUMPTION = "Assumption failed: ";

    private SkippedTests() {}

    public static void main(String[] args) throws Exception {
        Instant begin = Instant.parse(args[1]);
        Map<String, Integer> reasons = new TreeMap<>();
        try (DirectoryStream<Path> modules = Files.newDirectoryStream(Path.of(args[0]), "gateway-*")) {
            for (Path module : modules) {
                for (String kind : new String[] {"surefire", "failsafe"}) {
                    read(module.resolve("target").resolve(kind + "-reports"), begin, reasons);
                }
            }
        }
        System.out.println(summary(reasons));
    }

    private static void read(Path directory, Instant begin, Map<String, Integer> reasons)
            throws IOException, ParserConfigurationException, SAXException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (DirectoryStream<Path> reports = Files.newDirectoryStream(directory, "TEST-*.xml")) {
            for (Path report : reports) {
                if (Files.getLastModifiedTime(report).toInstant().isBefore(begin)) {
                    continue;
                }
                NodeList skipped = DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(report.toFile())
                        .getElementsByTagName("skipped");
                for (int i = 0; i < skipped.getLength(); i++) {
                    reasons.merge(reason((Element) skipped.item(i)), 1, Integer::sum);
                }
            }
        }
    }

    private static String reason(Element skipped) {
        String message = skipped.getAttribute("message").lines().findFirst().orElse("");
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
