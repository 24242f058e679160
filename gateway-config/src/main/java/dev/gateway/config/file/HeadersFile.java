package dev.gateway.config.file;

import dev.gateway.files.InputFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Headers from a file: a file of request headers, {@code name: value} in each line. No message shows a value: it may be a
 * secret.
 */
public final class HeadersFile {
    private static final long MAX_BYTES = 64 << 10;
    private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
    private static final Pattern VALUE = Pattern.compile("[\\t -~\\u0080-\\u00ff]*");

    /** What the sender of the request decides. */
    private static final Set<String> OTHERS = Set.of(
            "connection",
            "content-encoding",
            "content-length",
            "content-type",
            "expect",
            "host",
            "transfer-encoding",
            "upgrade");

    private HeadersFile() {}

    /**
     * Reads one; lines that are empty, or begin with {@code #}, do not count.
     *
     * @throws IOException if it cannot be read, or is something else; its message has the file, line and column
     */
    public static Map<String, String> read(Path file) throws IOException {
        Map<String, String> headers = new LinkedHashMap<>();
        List<String> lines =
                InputFile.text(file, StandardCharsets.UTF_8, MAX_BYTES).lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            String line =
                    i == 0 && lines.get(i).startsWith("\ufeff") ? lines.get(i).substring(1) : lines.get(i);
            if (!line.isBlank() && !line.startsWith("#")) {
                String problem = add(line, headers);
                if (!problem.isEmpty()) {
                    throw new IOException(file + ":" + (i + 1) + ":1: " + problem);
                }
            }
        }
        return headers;
    }

    /** Returns what is wrong with a line, nothing if its header was added. */
    private static String add(String line, Map<String, String> headers) {
        int colon = line.indexOf(':');
        if (colon < 0) {
            return "expected 'name: value'";
        }
        String name = line.substring(0, colon).strip();
        String value = line.substring(colon + 1).strip();
        if (!NAME.matcher(name).matches()) {
            return "no header name before ':': letters, digits and !#$%&'*+-.^_`|~ only";
        }
        if (OTHERS.contains(name.toLowerCase(Locale.ROOT))) {
            return "the gateway sets " + name + " itself: remove it";
        }
        if (value.isEmpty() || !VALUE.matcher(value).matches()) {
            return "no value that a header can have: expected one line without control characters";
        }
        if (headers.keySet().stream().anyMatch(name::equalsIgnoreCase)) {
            return name + " for a second time";
        }
        headers.put(name, value);
        return "";
    }
}
