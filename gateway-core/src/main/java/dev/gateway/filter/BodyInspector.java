package dev.gateway.filter;

import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;

/**
 * Request body inspection: looks at the first bytes that a client sends, before any of them goes upstream, and decides
 * whether they may. Of one exchange; called on its event loop. What it has not decided yet is kept, and gets no credit, so
 * that it is bounded.
 */
public interface BodyInspector {
    /** What an inspector has come to. */
    sealed interface Result permits More, Pass, Refuse {}

    /** It needs to see more bytes. */
    record More() implements Result {}

    /** The bytes may continue, and it need not see any others. */
    record Pass() implements Result {}

    /** The exchange fails. */
    record Refuse(Failure failure) implements Result {}

    /** The one of its kind. */
    Result MORE = new More();

    /** The one of its kind. */
    Result PASS = new Pass();

    /**
     * Looks at all bytes so far, without changing the buffer or its indices, and without keeping it.
     *
     * @param last whether no more come
     */
    Result inspect(ByteBuf soFar, boolean last);
}
