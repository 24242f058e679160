package dev.gateway.testing;

import com.aayushatharva.brotli4j.decoder.DecoderJNI;
import com.aayushatharva.brotli4j.decoder.DecoderJNI.Status;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Reads Brotli, also of a body that has not ended. The stream of brotli4j cannot: it reports an end too early, even for a
 * whole body that is larger than its window.
 */
public final class BrotliBytes {
    private BrotliBytes() {}

    /** Returns what can be read. */
    public static InputStream read(byte[] compressed) throws IOException {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        DecoderJNI.Wrapper decoder = new DecoderJNI.Wrapper(Math.max(1, compressed.length));
        try {
            decoder.getInputBuffer().put(compressed);
            if (compressed.length > 0) {
                decoder.push(compressed.length);
            }
            while (decoder.hasOutput()) {
                var output = decoder.pull();
                while (output.hasRemaining()) {
                    read.write(output.get());
                }
                if (decoder.getStatus() == Status.OK || decoder.getStatus() == Status.NEEDS_MORE_INPUT) {
                    decoder.push(0);
                }
            }
            if (decoder.getStatus() == Status.ERROR) {
                throw new IOException("it is not Brotli");
            }
        } finally {
            decoder.destroy();
        }
        return new ByteArrayInputStream(read.toByteArray());
    }
}
