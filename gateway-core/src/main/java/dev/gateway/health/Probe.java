package dev.gateway.health;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.time.Timer;
import dev.gateway.upstream.StreamOpener;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * One question to an endpoint, until its answer has come whole or there will be none. Its owner
 * is told how it ended unless it gives it up before. Confined to its event loop.
 */
final class Probe extends Timer implements StreamOpener.Callback, ResponseEvents {
    /** More of an answer is not waited for. */
    private static final int MOST_BYTES = 1 << 20;

    private static final Failure GIVEN_UP = Failure.of(Cause.CLIENT_CLOSED, "the check is over");

    private final Owner owner;
    private final RequestHead head;
    private StreamOpener.@Nullable Opening opening;
    private @Nullable ClientStream stream;
    private boolean answered; // the opening was: there is nothing to cancel
    private boolean over;
    private int status; // 0 until it has come
    private int received;

    /** Who asks; told once, on the same event loop. */
    interface Owner {
        /** The endpoint answered. */
        void onStatus(int status);

        /** There will be no answer. */
        void onFailed(Failure failure);

        /** There is no answer in time. */
        void onTimeout();
    }

    Probe(Owner owner, RequestHead head) {
        this.owner = owner;
        this.head = head;
    }

    /** Keeps what can be cancelled, if it has not been answered yet. */
    void began(StreamOpener.Opening begun) {
        if (answered) {
            return;
        }
        if (over) {
            begun.cancel();
        } else {
            opening = begun;
        }
    }

    boolean hasStream() {
        return stream != null;
    }

    /** Gives it up, at once; its owner is told nothing. Does nothing if it is over. */
    void abandon() {
        if (over) {
            return;
        }
        over = true;
        cancel();
        if (stream != null) {
            stream.reset(GIVEN_UP);
        } else if (opening != null && !answered) {
            opening.cancel();
        }
    }

    private void end() {
        over = true;
        cancel();
        owner.onStatus(status);
    }

    private void fail(Failure failure) {
        if (!over) {
            over = true;
            cancel();
            owner.onFailed(failure);
        }
    }

    @Override
    protected void onExpired() {
        if (!over) {
            abandon();
            owner.onTimeout();
        }
    }

    @Override
    public void onOpened(ClientStream opened, DialedPeer hop) {
        answered = true;
        stream = opened;
        if (over) {
            opened.reset(GIVEN_UP);
            return;
        }
        opened.head(head, true);
        opened.flush();
    }

    @Override
    public void onOpenFailed(Failure failure) {
        answered = true;
        fail(failure);
    }

    @Override
    public void onHead(ResponseHead response, boolean last) {
        if (!over && !response.isInterim()) {
            status = response.status();
            if (last) {
                end();
            }
        }
    }

    @Override
    public void onData(ByteBuf data, boolean last) {
        int bytes = data.readableBytes();
        data.release();
        if (over || stream == null) {
            return;
        }
        received += bytes;
        stream.consumed(bytes);
        if (!last && received > MOST_BYTES) {
            stream.reset(GIVEN_UP);
        }
        if (last || received > MOST_BYTES) {
            end();
        }
    }

    @Override
    public void onTrailers(Fields trailers) {
        if (!over) {
            end();
        }
    }

    @Override
    public void onWritable() {}

    @Override
    public void onReadComplete() {}

    @Override
    public void onReset(Failure failure) {
        fail(failure);
    }
}
