package dev.gateway.config.file;

import dev.gateway.files.InputFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Password file: a file of one line, the password of a server, in UTF-8. No message shows it. */
public final class PasswordFile {
    private static final int MAX_BYTES = 16 << 10;

    private PasswordFile() {}

    /**
     * Returns the password. The line break at its end is no part of it.
     *
     * @throws IOException if the file cannot be read or has no password; its message names the file
     */
    public static String read(Path file) throws IOException {
        String text = InputFile.text(file, StandardCharsets.UTF_8, MAX_BYTES);
        String password = text.endsWith("\r\n")
                ? text.substring(0, text.length() - 2)
                : text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
        if (password.isEmpty()) {
            throw new IOException(file + " is empty: expected a password");
        }
        if (password.startsWith("\ufeff")) {
            throw new IOException(file + " begins with a byte order mark: save it as UTF-8 without one");
        }
        if (password.chars().anyMatch(Character::isISOControl)) {
            throw new IOException(file + " has no password: expected one line without control characters");
        }
        if (!password.equals(password.strip())) {
            throw new IOException(file + " has no password: expected one line without a space at either end");
        }
        return password;
    }
}
