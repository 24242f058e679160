package dev.gateway.format.crypto;

import java.nio.charset.StandardCharsets;
import java.util.Set;

/** PEM block filter: takes the blocks of some kinds out of a file that holds others, too (RFC 7468). */
public final class PemBlocks {
    private static final String BEGIN = "-----BEGIN ";
    private static final String END = "-----";

    private PemBlocks() {}

    /**
     * Returns the blocks with one of these labels, in their order and without what stands between them. A file that has
     * none is returned as it is, because it may be in another format.
     */
    public static byte[] of(byte[] file, Set<String> labels) {
        String text = new String(file, StandardCharsets.ISO_8859_1);
        StringBuilder taken = new StringBuilder();
        int at = text.indexOf(BEGIN);
        while (at >= 0) {
            int labelEnd = text.indexOf(END, at + BEGIN.length());
            String label = labelEnd < 0 ? "" : text.substring(at + BEGIN.length(), labelEnd);
            String last = "-----END " + label + END;
            int end = text.indexOf(last, at);
            int next = end < 0 ? text.indexOf(BEGIN, at + BEGIN.length()) : end + last.length();
            if (labels.contains(label)) {
                // A block without an end is left to the reader, which says that it is damaged.
                taken.append(text, at, next < 0 ? text.length() : next).append('\n');
            }
            at = next < 0 ? -1 : text.indexOf(BEGIN, next);
        }
        return taken.isEmpty() ? file : taken.toString().getBytes(StandardCharsets.ISO_8859_1);
    }
}
