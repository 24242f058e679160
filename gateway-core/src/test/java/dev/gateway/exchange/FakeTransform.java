package dev.gateway.exchange;

import dev.gateway.filter.BodyTransform;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A transform whose work a test can see. An exclamation mark fails the exchange, a question mark is a defect. */
abstract class FakeTransform implements BodyTransform {
    /** All that were made, to see whether they were closed. */
    final List<ByteBuf> made = new ArrayList<>();

    int closed;

    /** Says each byte so many times: a piece for each byte. */
    static FakeTransform repeating(int times) {
        return new FakeTransform() {
            @Override
            Result make(ByteBuf in, Input input) {
                if (!in.isReadable()) {
                    return MORE;
                }
                return piece(in.readSlice(1).toString(StandardCharsets.UTF_8).repeat(times), false);
            }
        };
    }

    /** Keeps all until the source pauses or ends, then says it in brackets. */
    static FakeTransform gathering() {
        return new FakeTransform() {
            private final StringBuilder kept = new StringBuilder();

            @Override
            Result make(ByteBuf in, Input input) {
                kept.append(in.readSlice(in.readableBytes()).toString(StandardCharsets.UTF_8));
                if (input == Input.CONTINUES || (input == Input.PAUSES && kept.length() == 0)) {
                    return MORE;
                }
                String all = "[" + kept + "]";
                kept.setLength(0);
                return piece(all, input == Input.ENDS);
            }
        };
    }

    /** Keeps all until the end, then says a byte at a time. */
    static FakeTransform hoarding() {
        return new FakeTransform() {
            private final StringBuilder kept = new StringBuilder();

            @Override
            Result make(ByteBuf in, Input input) {
                kept.append(in.readSlice(in.readableBytes()).toString(StandardCharsets.UTF_8));
                if (input != Input.ENDS || kept.length() == 0) {
                    return MORE;
                }
                String first = kept.substring(0, 1);
                kept.deleteCharAt(0);
                return piece(first, false);
            }
        };
    }

    /** Reads all, and says nothing of it. */
    static FakeTransform swallowing() {
        return new FakeTransform() {
            @Override
            Result make(ByteBuf in, Input input) {
                in.skipBytes(in.readableBytes());
                return MORE;
            }
        };
    }

    /** Says the same of whatever comes. */
    static FakeTransform saying(String text) {
        return new FakeTransform() {
            @Override
            Result make(ByteBuf in, Input input) {
                boolean any = in.isReadable();
                in.skipBytes(in.readableBytes());
                return any ? piece(text, false) : MORE;
            }
        };
    }

    /** Says that it wants more, and reads nothing. */
    static FakeTransform refusingToRead() {
        return new FakeTransform() {
            @Override
            Result make(ByteBuf in, Input input) {
                return MORE;
            }
        };
    }

    /** Ends with the first byte. */
    static FakeTransform endingEarly() {
        return new FakeTransform() {
            @Override
            Result make(ByteBuf in, Input input) {
                return piece(in.readSlice(1).toString(StandardCharsets.UTF_8), true);
            }
        };
    }

    abstract Result make(ByteBuf in, Input input);

    final Piece piece(String text, boolean last) {
        ByteBuf data = ByteBufAllocator.DEFAULT.buffer().writeBytes(text.getBytes(StandardCharsets.UTF_8));
        made.add(data);
        return new Piece(data, last);
    }

    @Override
    public final Result transform(ByteBuf in, Input input) {
        if (closed > 0) {
            throw new AssertionError("used after it was closed");
        }
        byte next = in.isReadable() ? in.getByte(in.readerIndex()) : 0;
        if (next == '!') {
            return new Fail(Failure.of(Cause.BODY_TOO_LARGE, "made by the test"));
        } else if (next == '?') {
            throw new IllegalStateException("a defect");
        }
        return make(in, input);
    }

    @Override
    public final void close() {
        closed++;
    }
}
