package dev.gateway.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;

/** File input: reads whole files. */
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
     * Returns what is in a file.
     *
     * @throws FileFault if it cannot be read, or is larger than it may be
     */
    public static byte[] bytes(Path file, long maxBytes) throws FileFault {
        if (size(file) > maxBytes) {
            throw FileFault.tooLarge(file, maxBytes);
        }
        return bytes(file);
    }

    /**
     * Returns the text of a file.
     *
     * @throws FileFault if it cannot be read, or is not text of this encoding
     */
    public static String text(Path file, Charset charset) throws FileFault {
        return decode(file, bytes(file), charset);
    }

    /**
     * Returns the text of a file.
     *
     * @throws FileFault if it cannot be read, is larger than it may be, or is not text of this encoding
     */
    public static String text(Path file, Charset charset, long maxBytes) throws FileFault {
        return decode(file, bytes(file, maxBytes), charset);
    }

    /**
     * Returns the text that was read from a file.
     *
     * @throws FileFault if it is not text of this encoding
     */
    public static String decode(Path file, byte[] bytes, Charset charset) throws FileFault {
        try {
            return charset.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw FileFault.notText(file, charset, e);
        }
    }

    private static long size(Path file) throws FileFault {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw FileFault.reading(file, e);
        }
    }
}
