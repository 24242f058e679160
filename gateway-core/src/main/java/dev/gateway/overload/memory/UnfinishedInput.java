package dev.gateway.overload.memory;

/**
 * Unfinished input: direct memory of a connection that waits for the rest of something, such as a frame, a head or a
 * handshake. Charged to the client until the rest comes or the connection ends. If memory runs out, the connection may be
 * ended. Confined to the connection's event loop.
 */
public final class UnfinishedInput extends StalledPeers.Holder {
    /** No client is refused for less than this: it would free too little. */
    public static final long SLIGHT = 1024;

    private final Account account;
    private final Object culprit;
    private final long heap;
    private final Runnable onCut;
    private long held;

    /**
     * Begins with nothing, for the connection of a client.
     *
     * @param account of the connection
     * @param culprit whom to blame if the account is of no client
     * @param onCut ends the connection at once, and so calls {@link #release}
     */
    public UnfinishedInput(Account account, Object culprit, Runnable onCut) {
        this(account, culprit, Cost.CONNECTION, onCut);
    }

    /**
     * Begins with nothing.
     *
     * @param heap what the end of the connection frees of the charged heap, besides
     */
    public UnfinishedInput(Account account, Object culprit, long heap, Runnable onCut) {
        this.account = account;
        this.culprit = culprit;
        this.heap = heap;
        this.onCut = onCut;
    }

    /**
     * Sets the charge to what waits now. The bytes are held already, so they are charged even beyond the share.
     *
     * @return whether the client may hold that much; if not, the caller ends the connection
     */
    public boolean hold(long bytes) {
        boolean more = bytes > held;
        account.waitingBodies().change(held, bytes);
        held = bytes;
        if (bytes <= SLIGHT) {
            resume();
            return true;
        }
        stall();
        return !more || account.waitingBodies().hasShare(1);
    }

    /** Nothing waits any more: the rest has come, or what waited was freed. */
    public void release() {
        hold(0);
    }

    @Override
    protected long held() {
        return held;
    }

    @Override
    protected long heldHeap() {
        return heap;
    }

    @Override
    protected Object culprit() {
        Object client = account.client();
        return client == null ? culprit : client;
    }

    @Override
    protected void cut() {
        onCut.run();
    }
}
