package dev.gateway.filter.fields;

import dev.gateway.files.InputFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Header value from a file: a file that has the value of one header field, in one line. No message shows the value: it may
 * be a secret.
 */
public final class HeaderValueFile {
    /** More than most servers take as a whole head. */
    private static final int MAX_BYTES = 16 << 10;

    private HeaderValueFile() {}

    /**
     * Returns the value, each character a byte of the file. The line break at its end is no part of it.
     *
     * @throws IOException if the file cannot be read or has no value; its message names the file
     */
    public static String read(Path file) throws IOException {
        String text = new String(InputFile.bytes(file, MAX_BYTES), StandardCharsets.ISO_8859_1);
        String value = text.endsWith("\r\n")
                ? text.substring(0, text.length() - 2)
                : text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
        if (value.isEmpty()) {
            throw new IOException(file + " is empty: expected the value of a header");
        }
        if (value.startsWith("\u00ef\u00bb\u00bf")) {
            throw new IOException(file + " begins with a byte order mark: save it as UTF-8 without one");
        }
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            boolean edge = i == 0 || i == value.length() - 1;
            String problem = c == '\n' || c == '\r'
                    ? "a line break"
                    : edge && (c == ' ' || c == '\t')
                            ? "a space"
                            : (c < ' ' && c != '\t') || c == 0x7f ? "a control character" : "";
            if (!problem.isEmpty()) {
                throw new IOException(file + " has no header value: expected one line without control characters and"
                        + " without a space at either end; byte " + (i + 1) + " is " + problem);
            }
        }
        return value;
    }
}
