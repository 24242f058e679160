package dev.gateway.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads whole files. */
public final class InputFile {
    private InputFile() {}

    /**
     * Returns what is in a file.
     *
     * @throws FileFault if it cannot be read
     */
    public static byte[] bytes(Path file) throws FileFault {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw FileFault.reading(file, e);
        }
    }

    /**
     * Returns the text of a file.
     *
     * @throws FileFault if it cannot be read, or is not text of this encoding
     */
    public static String text(Path file, Charset charset) throws FileFault {
        byte[] bytes = bytes(file);
        try {
            return charset.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw FileFault.notText(file, charset, e);
        }
    }

    /**
     * Returns how many bytes there are in a file.
     *
     * @throws FileFault if it cannot be looked at
     */
    public static long size(Path file) throws FileFault {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw FileFault.reading(file, e);
        }
    }
}
