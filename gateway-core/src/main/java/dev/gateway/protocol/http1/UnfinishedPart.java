package dev.gateway.protocol.http1;

import dev.gateway.overload.memory.Holding;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.ConnectionInfo;

/** What has come of a head or of trailers of which more is to come, charged to a client. It is cut if memory runs out. */
final class UnfinishedPart extends StalledPeers.Holder {
    final Holding collected;
    private final Object culprit;
    private final Runnable onCut;

    /** Begins with nothing. */
    UnfinishedPart(ConnectionInfo client, Runnable onCut) {
        this.collected = new Holding(client.account());
        this.culprit = client.culprit();
        this.onCut = onCut;
    }

    /** Nothing more is to come of it. */
    void release() {
        resume();
        collected.release();
    }

    @Override
    protected long held() {
        return 0;
    }

    @Override
    protected long heldHeap() {
        return collected.bytes();
    }

    @Override
    protected Object culprit() {
        return culprit;
    }

    @Override
    protected void cut() {
        onCut.run();
    }
}
