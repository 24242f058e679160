package dev.gateway.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;

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
        for (int i = offset; i < offset + count; i++) {
            if (bytes[i] == '\n') {
                keep(bytes, start, i - start);
                start = i + 1;
                String line = new String(begun, 0, length, StandardCharsets.UTF_8);
                length = 0;
                give(line);
            }
        }
        keep(bytes, start, offset + count - start);
    }

    private void keep(byte[] bytes, int offset, int count) {
        if (begun.length - length < count) {
            begun = Arrays.copyOf(begun, Math.max(length + count, 2 * begun.length));
        }
        System.arraycopy(bytes, offset, begun, length, count);
        length += count;
    }

    private void give(String line) throws IOException {
        try {
            receiver.accept(line);
        } catch (RuntimeException e) {
            throw new IOException("the receiver of the lines failed", e);
        }
    }
}
