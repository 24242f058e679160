package dev.gateway.filter.apikey;

import dev.gateway.files.InputFile;
import dev.gateway.filter.auth.Accounts.Tokens;
import dev.gateway.format.AccountFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** API keys of a file, of which it has digests only. Immutable. */
public final class ApiKeys {
    private final Tokens keys;

    private ApiKeys(Tokens keys) {
        this.keys = keys;
    }

    /**
     * Reads a file of lines with a name, a colon and the key's SHA-256.
     *
     * @throws IOException if it cannot be read, or has a line that is wrong; the message has the file and the line
     */
    public static ApiKeys read(Path file) throws IOException {
        String text = InputFile.text(file, StandardCharsets.UTF_8, (long) AccountFile.MAX_MEBIBYTES << 20);
        AccountFile.Tokens read = AccountFile.keys(file, text);
        if (!read.faults().isEmpty()) {
            throw new IOException(read.faults().get(0));
        }
        return new ApiKeys(Tokens.of(read));
    }

    /** Returns whose key this is, or null. Digests are compared, in constant time. */
    @Nullable
    String owner(byte[] key) {
        return keys.owner(key);
    }
}
