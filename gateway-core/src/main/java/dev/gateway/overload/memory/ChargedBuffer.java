package dev.gateway.overload.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.Executor;

/**
 * Charged buffer: bytes that stay charged until they are released, by any of their holders. An example is the body of an
 * answer that a filter got and may send to the client.
 */
public final class ChargedBuffer extends CompositeByteBuf implements BufferCost.Charged {
    private final Account account;
    private final Executor loop;
    private final long heap;
    private final long direct;

    private ChargedBuffer(ByteBuf content, Account account, Executor loop) {
        super(UnpooledByteBufAllocator.DEFAULT, content.isDirect(), 1);
        this.account = account;
        this.loop = loop;
        this.heap = Cost.PIECE + BufferCost.heap(content);
        this.direct = BufferCost.direct(content);
        addComponent(true, content);
        account.charge(heap);
        account.waitingBodies().charge(direct);
    }

    /**
     * Charges bytes that are held already.
     *
     * @param content owned by this, and by the returned buffer then
     * @param account of the client for which they are held
     * @param loop the account's event loop
     */
    public static ByteBuf of(ByteBuf content, Account account, Executor loop) {
        return new ChargedBuffer(content, account, loop);
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        if (loop instanceof EventExecutor events && !events.inEventLoop()) {
            events.execute(this::discharge);
        } else {
            discharge();
        }
    }

    private void discharge() {
        account.release(heap);
        account.waitingBodies().release(direct);
    }
}
