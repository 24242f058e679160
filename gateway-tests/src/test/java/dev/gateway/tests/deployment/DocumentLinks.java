package dev.gateway.tests.deployment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The links of a Markdown file to other files of the repository, and to headings. */
final class DocumentLinks {
    private static final Pattern CODE = Pattern.compile("^```.*?^```|`[^`\\n]+`", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern FENCED = Pattern.compile("^```.*?^```", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ +(.*)$", Pattern.MULTILINE);

    private DocumentLinks() {}

    /** Returns the targets, without those on other sites. */
    static List<String> of(Path document) throws IOException {
        List<String> links = new ArrayList<>();
        Matcher link = LINK.matcher(CODE.matcher(Files.readString(document)).replaceAll("code"));
        while (link.find()) {
            if (!link.group(1).contains(":")) {
                links.add(link.group(1));
            }
        }
        return links;
    }

    /** Returns what is wrong with a link, or nothing. */
    static String problem(Path document, String link) throws IOException {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty()
                ? document
                : document.resolveSibling(parts[0]).normalize();
        if (!Files.exists(target)) {
            return "there is no " + target;
        }
        return parts.length == 1 || anchors(target).contains(parts[1]) ? "" : "there is no heading #" + parts[1];
    }

    private static List<String> anchors(Path document) throws IOException {
        List<String> anchors = new ArrayList<>();
        Matcher heading =
                HEADING.matcher(FENCED.matcher(Files.readString(document)).replaceAll(""));
        while (heading.find()) {
            String text = heading.group(1).strip().toLowerCase(Locale.ROOT);
            anchors.add(text.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'));
        }
        return anchors;
    }
}
