package dev.gateway.config.yaml;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Reads the files that a configuration names, or says why they cannot be. */
final class TextFiles {
    private TextFiles() {}

    static String read(Path file, Charset charset, int maxMebibytes) throws InvalidException {
        try {
            if (Files.isDirectory(file)) {
                throw new InvalidException(file + " is a directory");
            }
            if (Files.size(file) > (long) maxMebibytes << 20) {
                throw new InvalidException(file + " is larger than " + maxMebibytes + " MiB");
            }
            return charset.newDecoder()
                    .decode(ByteBuffer.wrap(Files.readAllBytes(file)))
                    .toString();
        } catch (NoSuchFileException e) {
            throw new InvalidException("there is no file " + file);
        } catch (AccessDeniedException e) {
            throw new InvalidException("no permission to read " + file);
        } catch (CharacterCodingException e) {
            throw new InvalidException(file + " is not " + charset);
        } catch (IOException e) {
            throw new InvalidException("cannot read " + file + ": " + e.getMessage());
        }
    }
}
