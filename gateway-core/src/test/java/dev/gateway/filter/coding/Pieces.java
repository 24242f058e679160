package dev.gateway.filter.coding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.BodyTransform.Fail;
import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.BodyTransform.Piece;
import dev.gateway.filter.BodyTransform.Result;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Drives a transform as an exchange does, and keeps what comes of it. */
public final class Pieces implements AutoCloseable {
    public final ByteArrayOutputStream made = new ByteArrayOutputStream();
    public final List<Integer> sizes = new ArrayList<>();
    private final BodyTransform transform;

    public @Nullable Failure failure;

    public boolean ended;

    public Pieces(BodyTransform transform) {
        this.transform = transform;
    }

    /** Gives some bytes, in direct memory as they come from a socket; returns how many bytes came of them. */
    public int give(byte[] bytes, int offset, int length, Input input) {
        return give(
                length == 0
                        ? Unpooled.EMPTY_BUFFER
                        : ByteBufAllocator.DEFAULT.directBuffer(length).writeBytes(bytes, offset, length),
                input);
    }

    /** Gives a buffer, and releases it. */
    public int give(ByteBuf in, Input input) {
        int before = made.size();
        try {
            while (failure == null && !ended && step(in, input)) {
                // until it wants more
            }
        } finally {
            in.release();
        }
        ended |= failure == null && input == Input.ENDS;
        return made.size() - before;
    }

    private boolean step(ByteBuf in, Input input) {
        Result result = transform.transform(in, input);
        if (result instanceof Piece piece) {
            ByteBuf data = piece.data();
            assertThat(data.isReadable() || piece.last()).isTrue();
            sizes.add(data.readableBytes());
            byte[] copy = new byte[data.readableBytes()];
            data.readBytes(copy);
            data.release();
            made.writeBytes(copy);
            ended = piece.last();
            assertThat(ended && (input != Input.ENDS || in.isReadable())).isFalse();
            return true;
        } else if (result instanceof Fail fail) {
            failure = fail.failure();
        } else {
            assertThat(in.isReadable()).as("bytes that it has not read").isFalse();
        }
        return false;
    }

    public int give(byte[] bytes, Input input) {
        return give(bytes, 0, bytes.length, input);
    }

    public int pause() {
        return give(new byte[0], Input.PAUSES);
    }

    public Pieces end() {
        give(new byte[0], Input.ENDS);
        return this;
    }

    @Override
    public void close() {
        transform.close();
    }
}
