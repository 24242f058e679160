package dev.gateway.files;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * File input: reads whole files, and refuses pipes and devices. Who opens a pipe waits until somebody writes to it, and a device
 * may have no end.
 */
public final class InputFile {
    /** Enough for revocation lists, the largest files that have no limit of their own. */
    private static final int MAX_BYTES = 32 << 20;

    private InputFile() {}

    /**
     * Returns what is in a file of at most 32 MiB.
     *
     * @throws FileFault if it cannot be read, or is larger
     */
    public static byte[] bytes(Path file) throws FileFault {
        return bytes(file, MAX_BYTES);
    }

    /**
     * Returns what is in a file.
     *
     * @param maxBytes less than 1 GiB
     * @throws FileFault if it cannot be read, or is larger than it may be
     */
    public static byte[] bytes(Path file, long maxBytes) throws FileFault {
        try {
            if (Files.readAttributes(file, BasicFileAttributes.class).isOther()) {
                throw FileFault.special(file);
            }
            try (InputStream in = Files.newInputStream(file)) {
                byte[] bytes = in.readNBytes((int) maxBytes + 1); // a size that was asked for may be wrong by now
                if (bytes.length > maxBytes) {
                    throw FileFault.tooLarge(file, maxBytes);
                }
                return bytes;
            }
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
}
