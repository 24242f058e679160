package dev.gateway.config.yaml.type;

import dev.gateway.files.FileFault;
import dev.gateway.files.InputFile;
import java.nio.charset.Charset;
import java.nio.file.Path;

/** Reads the files that a configuration names, or says why they cannot be. */
public final class TextFiles {
    private TextFiles() {}

    /**
     * Returns a file's text.
     *
     * @throws InvalidException in words, if it is larger or cannot be read
     */
    public static String read(Path file, Charset charset, int maxMebibytes) throws InvalidException {
        try {
            return InputFile.text(file, charset, (long) maxMebibytes << 20);
        } catch (FileFault e) {
            throw new InvalidException(String.valueOf(e.getMessage()));
        }
    }
}
