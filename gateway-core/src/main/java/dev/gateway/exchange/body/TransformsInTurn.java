package dev.gateway.exchange.body;

import dev.gateway.filter.BodyTransform;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/** Two transforms of one body: the second reads the output of the first, a piece at a time. Owns the piece between them. */
public final class TransformsInTurn implements BodyTransform {
    private final BodyTransform first;
    private final BodyTransform second;
    private @Nullable ByteBuf between; // output of the first that the second has not read yet
    private boolean firstEnded;

    /** Makes one of two; owns both. */
    public TransformsInTurn(BodyTransform first, BodyTransform second) {
        this.first = first;
        this.second = second;
    }

    @Override
    public Result transform(ByteBuf in, Input input) {
        while (true) {
            ByteBuf piece = between;
            if (piece != null) {
                Result result = second.transform(piece, firstEnded ? Input.ENDS : Input.CONTINUES);
                boolean all = !piece.isReadable();
                if (all) {
                    between = null;
                    piece.release();
                }
                if (result instanceof More && !all) {
                    throw new IllegalStateException("a transform asks for more input before it has read all");
                }
                if (!(result instanceof More) || firstEnded) {
                    return result;
                }
            }
            if (firstEnded) {
                return second.transform(Unpooled.EMPTY_BUFFER, Input.ENDS);
            }
            Result made = first.transform(in, input);
            if (made instanceof Piece next) {
                between = next.data();
                firstEnded = next.last();
            } else if (made instanceof Fail || input == Input.CONTINUES) {
                return made;
            } else if (input == Input.PAUSES) {
                return second.transform(Unpooled.EMPTY_BUFFER, Input.PAUSES);
            } else {
                firstEnded = true;
            }
        }
    }

    @Override
    public void close() {
        if (between != null) {
            between.release();
            between = null;
        }
        try {
            first.close();
        } finally {
            second.close();
        }
    }
}
