package dev.gateway.filter.compression;

import com.aayushatharva.brotli4j.encoder.EncoderJNI;
import com.aayushatharva.brotli4j.encoder.EncoderJNI.Operation;
import dev.gateway.filter.BodyTransform.Input;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Compressor to Brotli (RFC 7932) by brotli4j. Its encoder cannot be used again. */
final class BrotliCompressor implements Compressor {
    private static final int FASTEST = 1;
    private static final int FAST = 3;
    private static final int HIGHEST = 9;

    /** 64 KiB. With a larger one, the hash tables of the higher levels take up to 32 MiB. */
    private static final int WINDOW_LOG = 16;

    private static final int INPUT = 16 * 1024;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final EncoderJNI.Wrapper encoder;
    private ByteBuffer output = NOTHING; // of the encoder, valid until its next call
    private Operation operation = Operation.PROCESS; // the last one
    private boolean unflushed; // the encoder may hold bytes back

    /** Creates an encoder. */
    BrotliCompressor(int quality) {
        try {
            this.encoder = new EncoderJNI.Wrapper(INPUT, quality, WINDOW_LOG, null);
        } catch (IOException e) {
            throw shortage();
        }
    }

    /**
     * Returns the native memory of an encoder: window, hash tables and what it gathers before it writes a block. Measured after
     * 256 KiB of input, as the library allocates more and more until then.
     */
    static int bytes(int quality) {
        int kib;
        if (quality <= FASTEST) {
            kib = 128;
        } else if (quality <= FAST) {
            kib = 896;
        } else {
            kib = quality < HIGHEST ? 1792 : 2560;
        }
        return kib * 1024;
    }

    @Override
    public void compress(ByteBuf in, ByteBuf out, Input input) {
        do {
            int length = Math.min(output.remaining(), out.writableBytes());
            out.writeBytes(output.slice(output.position(), length));
            output.position(output.position() + length);
        } while (!output.hasRemaining() && advance(in, input));
    }

    /** Takes the next output of the encoder, or lets it do more. Returns false if nothing is left to do. */
    private boolean advance(ByteBuf in, Input input) {
        if (encoder.hasMoreOutput()) {
            output = encoder.pull();
        } else if (encoder.hasRemainingInput()) {
            push(operation, 0);
        } else if (in.isReadable()) {
            ByteBuffer buffer = encoder.getInputBuffer().clear();
            int length = Math.min(in.readableBytes(), INPUT);
            in.readBytes(buffer.limit(length));
            push(in.isReadable() ? Operation.PROCESS : operation(input), length);
        } else if (input == Input.PAUSES && unflushed) {
            push(Operation.FLUSH, 0);
        } else if (input == Input.ENDS && !encoder.isFinished()) {
            push(Operation.FINISH, 0);
        } else {
            return false;
        }
        return true;
    }

    private static Operation operation(Input input) {
        return switch (input) {
            case CONTINUES -> Operation.PROCESS;
            case PAUSES -> Operation.FLUSH;
            case ENDS -> Operation.FINISH;
        };
    }

    private void push(Operation next, int length) {
        output = NOTHING;
        operation = next;
        encoder.push(next, length);
        if (!encoder.isSuccess()) {
            throw shortage(); // the only reason, if the calls are in order
        }
        unflushed = next == Operation.PROCESS || encoder.hasMoreOutput(); // of an earlier block, before it flushes
    }

    private static OutOfMemoryError shortage() {
        return new OutOfMemoryError("of the Brotli encoder");
    }

    @Override
    public boolean isFinished() {
        return encoder.isFinished() && !output.hasRemaining();
    }

    @Override
    public void close() {
        output = NOTHING;
        encoder.destroy();
    }
}
