package dev.gateway.filter.jwt;

import dev.gateway.files.InputFile;
import dev.gateway.format.crypto.JwkSet;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Key set file: public keys that verify tokens, as a JSON Web Key Set. */
public final class JwkSetFile {
    private static final int MAX_BYTES = 1 << 20;

    private JwkSetFile() {}

    /**
     * Reads a file.
     *
     * @throws IOException if it cannot be read, or has no keys that can be used; the message has the file
     */
    public static JwkSet read(Path file) throws IOException {
        return JwkSet.parse(file.toString(), InputFile.text(file, StandardCharsets.UTF_8, MAX_BYTES));
    }
}
