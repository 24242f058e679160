package dev.gateway.runtime.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Gives each line that is written to it to a receiver, without its end. Used by one thread at a time. */
final class LineStream extends OutputStream {
    private static final int FIRST_SIZE = 256;

    private final Consumer<String> receiver;
    private byte[] begun = new byte[FIRST_SIZE]; // of a line whose end has not come
    private int length;

    LineStream(Consumer<String> receiver) {
        this.receiver = receiver;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
        int start = offset;
        RuntimeException failed = null;
        for (int i = offset; i < offset + count; i++) {
            if (bytes[i] == '\n') {
                keep(bytes, start, i - start);
                start = i + 1;
                String line = new String(begun, 0, length, StandardCharsets.UTF_8);
                length = 0;
                failed = give(line, failed);
            }
        }
        keep(bytes, start, offset + count - start);
        if (failed != null) {
            throw new IOException("the receiver of the lines failed", failed);
        }
    }

    private void keep(byte[] bytes, int offset, int count) {
        if (begun.length - length < count) {
            begun = Arrays.copyOf(begun, Math.max(length + count, 2 * begun.length));
        }
        System.arraycopy(bytes, offset, begun, length, count);
        length += count;
    }

    /** One line that cannot be taken does not keep the next from its receiver. Returns the first failure, if any. */
    private @Nullable RuntimeException give(String line, @Nullable RuntimeException failed) {
        try {
            receiver.accept(line);
            return failed;
        } catch (RuntimeException e) {
            return failed == null ? e : failed;
        }
    }
}
