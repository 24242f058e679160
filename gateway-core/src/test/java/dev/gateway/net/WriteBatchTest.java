package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WriteBatchTest {
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final ChannelHandlerContext ctx = channel.pipeline().firstContext();
    private final WriteBatch batch = new WriteBatch();

    @AfterEach
    void finish() {
        batch.clear();
        channel.finishAndReleaseAll();
    }

    @Test
    void piecesLeaveTogetherInTheirOrder() {
        ByteBuf piece = text("two");
        batch.room(ctx, 3).writeBytes("one".getBytes(StandardCharsets.US_ASCII));
        batch.write(ctx, piece);
        assertThat(piece.refCnt()).isZero();
        assertThat(batch.bytes()).isEqualTo(6);
        channel.flush();
        assertThat(sent()).isNull();

        batch.emit(ctx);
        batch.emit(ctx);
        channel.flush();
        assertThat(batch.bytes()).isZero();
        assertThat(sent()).isEqualTo("onetwo");
        assertThat(sent()).isNull();
    }

    @Test
    void whatWouldMakeItTooLongGoesIntoAnother() {
        String piece = "x".repeat(WriteBatch.SHORT);
        int most = 16 * 1024;
        for (int bytes = 0; bytes < most; bytes += piece.length()) {
            batch.write(ctx, text(piece));
        }
        channel.flush();
        assertThat(sent()).isNull();

        batch.write(ctx, text("y"));
        channel.flush();
        assertThat(sent()).isEqualTo("x".repeat(most));
        batch.emit(ctx);
        channel.flush();
        assertThat(sent()).isEqualTo("y");
    }

    @Test
    void aLongPieceLeavesByItselfBehindTheRest() {
        ByteBuf piece = text("x".repeat(WriteBatch.SHORT + 1));
        batch.write(ctx, text("y"));
        batch.write(ctx, piece);
        channel.flush();
        assertThat(sent()).isEqualTo("y");
        assertThat(channel.<ByteBuf>readOutbound()).isSameAs(piece);
        piece.release();
    }

    @Test
    void hasRoomForALongPiece() {
        byte[] piece = new byte[100_000];
        batch.room(ctx, piece.length).writeBytes(piece);
        assertThat(batch.bytes()).isEqualTo(piece.length);
    }

    @Test
    void dropsWhatWasAddedWhenCleared() {
        batch.write(ctx, text("one"));
        batch.clear();
        batch.emit(ctx);
        channel.flush();
        assertThat(sent()).isNull();
    }

    private static ByteBuf text(String text) {
        return Buffers.of(text);
    }

    private @Nullable String sent() {
        ByteBuf out = channel.readOutbound();
        if (out == null) {
            return null;
        }
        try {
            return out.toString(StandardCharsets.US_ASCII);
        } finally {
            out.release();
        }
    }
}
