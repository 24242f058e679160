package dev.gateway.config.file;

import dev.gateway.files.InputFile;
import dev.gateway.format.Cidr;
import dev.gateway.format.CidrSet;
import dev.gateway.format.ShownText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Address list file: one IP address or CIDR block in a line. Empty lines say nothing, nor does what follows a {@code #}.
 */
public final class AddressFile {
    /** How large such a file may be: some 300,000 addresses. */
    public static final int MAX_MEBIBYTES = 4;

    private static final String BYTE_ORDER_MARK = "\ufeff";

    private AddressFile() {}

    /**
     * Reads a file.
     *
     * @throws IOException if it cannot be read, or has a line that is neither; the message has the file, line and column
     */
    public static CidrSet read(Path file) throws IOException {
        return parse(file, InputFile.text(file, StandardCharsets.UTF_8, (long) MAX_MEBIBYTES << 20));
    }

    /**
     * Reads the text of a file.
     *
     * @param file for messages
     */
    static CidrSet parse(Path file, String text) throws IOException {
        List<Cidr> blocks = new ArrayList<>();
        int number = 0;
        String content = text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
        for (String line : (Iterable<String>) content.lines()::iterator) {
            number++;
            int comment = line.indexOf('#');
            String before = comment < 0 ? line : line.substring(0, comment);
            String written = before.strip();
            if (written.isEmpty()) {
                continue;
            }
            Cidr block = Cidr.parseMasked(written);
            if (block == null) {
                throw new IOException(file + ":" + number + ":" + (before.indexOf(written) + 1)
                        + ": expected an IP address or a block such as 10.0.0.0/8 or fd00::/8, not '"
                        + ShownText.shorten(written) + "'");
            }
            blocks.add(block);
        }
        return CidrSet.of(blocks);
    }
}
