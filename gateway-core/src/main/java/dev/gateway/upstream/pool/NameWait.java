package dev.gateway.upstream.pool;

import dev.gateway.upstream.stream.StreamOpener;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * A request for a name for which there is no room, while the other event loops are asked, one after the other, to give up a
 * name that nothing uses. Confined to the loop of the request.
 */
final class NameWait implements StreamOpener.Opening {
    private final SharedUpstream.Loop here;
    private final Iterator<SharedUpstream.Loop> loops;
    private final Owner owner;
    private StreamOpener.@Nullable Opening opening;
    private boolean over;

    /** The pools of the request's loop. */
    interface Owner {
        /** Opens what was asked for; returns null if there is still no room. */
        StreamOpener.@Nullable Opening tryOpen();

        /** No loop has given up a name. */
        void onNoRoom();
    }

    NameWait(SharedUpstream.Loop here, Iterator<SharedUpstream.Loop> loops, Owner owner) {
        this.here = here;
        this.loops = loops;
        this.owner = owner;
    }

    /** Asks the next loop, which answers later. */
    void askNext() {
        if (!loops.hasNext()) {
            over = true;
            owner.onNoRoom();
            return;
        }
        SharedUpstream.Loop other = loops.next();
        other.loop().execute(() -> {
            boolean given = other.giveUpName();
            here.loop().execute(() -> onAnswer(given));
        });
    }

    private void onAnswer(boolean given) {
        if (over) {
            return;
        }
        StreamOpener.Opening begun = given ? owner.tryOpen() : null;
        if (begun == null) {
            askNext();
        } else if (over) {
            begun.cancel(); // inside the call
        } else {
            over = true;
            opening = begun;
        }
    }

    @Override
    public void cancel() {
        over = true;
        if (opening != null) {
            opening.cancel();
        }
    }

    @Override
    public void expire() {
        over = true;
        if (opening != null) {
            opening.expire();
        }
    }
}
