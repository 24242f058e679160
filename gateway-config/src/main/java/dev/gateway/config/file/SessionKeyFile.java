package dev.gateway.config.file;

import dev.gateway.files.InputFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * Session key file: keys that session cookies are signed with, one a line. The first signs, the others are accepted, so that
 * keys can be changed without an end of sessions. No message shows a key.
 */
public final class SessionKeyFile {
    private static final int MIN_LENGTH = 32;
    private static final int MOST = 8;
    private static final int MAX_BYTES = 16 << 10;

    private SessionKeyFile() {}

    /**
     * Returns the keys, at least one.
     *
     * @throws IOException if the file cannot be read or has no good keys; its message names the file
     */
    public static List<String> read(Path file) throws IOException {
        String text = new String(InputFile.bytes(file, MAX_BYTES), StandardCharsets.UTF_8);
        List<String> keys = text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#")) // a remark is no secret
                .toList();
        if (keys.isEmpty()) {
            throw new IOException(file + " has no key: write one of " + MIN_LENGTH
                    + " characters or more, such as by 'openssl rand -base64 32'");
        }
        if (keys.size() > MOST) {
            throw new IOException(file + " has more than " + MOST + " keys: remove the oldest, which are the last");
        }
        for (int i = 0; i < keys.size(); i++) {
            if (keys.get(i).length() < MIN_LENGTH) {
                throw new IOException(file + ": key " + (i + 1) + " has fewer than " + MIN_LENGTH
                        + " characters: make one by 'openssl rand -base64 32'");
            }
        }
        return keys;
    }
}
