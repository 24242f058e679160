package dev.gateway.config.yaml;

import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.Node;
import dev.gateway.config.yaml.type.Problems;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Turns the bytes of a file into one YAML document.
 *
 * @param what the file is, for messages
 * @param whenEmpty what to write into an empty one
 */
record YamlText(String what, String whenEmpty) {
    /** How large a file may be. */
    static final int MAX_BYTES = 1 << 20;

    static final YamlText CONFIGURATION = new YamlText("a configuration", "it needs at least 'listeners'");

    /** One of several files. It is never empty: such a file may just be written, and what it had would be gone. */
    static final YamlText PART = new YamlText("a configuration", "write {} for nothing, or remove the file");

    static final YamlText ENDPOINTS = new YamlText("a list of endpoints", "write [] for no endpoints");

    /** Returns the document's root, or null after one problem was reported. */
    @Nullable
    Node read(String name, byte[] bytes, Problems problems) {
        String text = decode(name, bytes, problems);
        return text == null ? null : YamlReader.read(name, text, whenEmpty, problems);
    }

    private @Nullable String decode(String name, byte[] bytes, Problems problems) {
        if (bytes.length > MAX_BYTES) {
            problems.error(new Position(name, 1, 1), "the file is larger than 1 MiB, too large for " + what);
            return null;
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer in = ByteBuffer.wrap(bytes);
        CharBuffer out = CharBuffer.allocate(bytes.length + 1);
        CoderResult result = decoder.decode(in, out, true);
        out.flip();
        if (result.isError()) {
            int line = 1;
            int column = 1;
            for (int i = 0; i < out.length(); i++) {
                boolean newline = out.charAt(i) == '\n';
                line += newline ? 1 : 0;
                column = newline ? 1 : column + 1;
            }
            problems.error(new Position(name, line, column), "not UTF-8: save the file in that encoding");
            return null;
        }
        boolean marked = out.length() > 0 && out.charAt(0) == '\ufeff';
        return marked ? out.subSequence(1, out.length()).toString() : out.toString();
    }
}
