package dev.gateway.config.file;

import dev.gateway.files.InputFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Error page file: a whole body in UTF-8, sent at once and to anybody, so it is small. */
public final class ErrorPageFile {
    /** How large such a file may be. */
    public static final int MAX_KIBIBYTES = 64;

    private static final String BYTE_ORDER_MARK = "\ufeff";

    private ErrorPageFile() {}

    /**
     * Returns the text of a file.
     *
     * @throws IOException if it cannot be read or is empty; the message names the file
     */
    public static String read(Path file) throws IOException {
        String text = InputFile.text(file, StandardCharsets.UTF_8, (long) MAX_KIBIBYTES << 10);
        String page = text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
        if (page.isBlank()) {
            throw new IOException(file + " is empty: expected a page");
        }
        return page;
    }
}
