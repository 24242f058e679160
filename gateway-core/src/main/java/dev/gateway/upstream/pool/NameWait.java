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
    private @Nullable Owner owner; // null once it is over, as another loop may answer late
    private StreamOpener.@Nullable Opening opening;

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
        Owner asking = owner;
        if (asking == null) {
            return;
        } else if (!loops.hasNext()) {
            owner = null;
            asking.onNoRoom();
            return;
        }
        SharedUpstream.Loop other = loops.next();
        other.loop().execute(() -> {
            boolean given = other.giveUpName();
            here.loop().execute(() -> onAnswer(given));
        });
    }

    private void onAnswer(boolean given) {
        StreamOpener.Opening begun = given && owner != null ? owner.tryOpen() : null;
        if (begun == null) {
            askNext();
        } else if (owner == null) {
            begun.cancel(); // inside the call
        } else {
            owner = null;
            opening = begun;
        }
    }

    @Override
    public void cancel() {
        owner = null;
        if (opening != null) {
            opening.cancel();
        }
    }

    @Override
    public void expire() {
        owner = null;
        if (opening != null) {
            opening.expire();
        }
    }
}
