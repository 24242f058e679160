package dev.gateway.upstream.pool;

import dev.gateway.upstream.stream.StreamOpener;
import java.util.Iterator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A request for a name for which there is no room, while the other event loops are asked, one after the other, to give up a
 * name that nothing uses. Confined to the loop of the request.
 */
final class NameWait implements StreamOpener.Opening {
    private final SharedUpstream.Loop here;
    private final Iterator<SharedUpstream.Loop> loops;
    private @Nullable Supplier<StreamOpener.@Nullable Opening>
            opening; // null once it is over: another loop may answer late
    private @Nullable Runnable noRoom; // likewise
    private StreamOpener.@Nullable Opening begun;

    /**
     * Makes one that has not asked.
     *
     * @param opening opens what was asked for; returns null if there is still no room
     * @param noRoom called if no loop has given up a name
     */
    NameWait(
            SharedUpstream.Loop here,
            Iterator<SharedUpstream.Loop> loops,
            Supplier<StreamOpener.@Nullable Opening> opening,
            Runnable noRoom) {
        this.here = here;
        this.loops = loops;
        this.opening = opening;
        this.noRoom = noRoom;
    }

    /** Asks the next loop, which answers later. */
    void askNext() {
        Runnable told = noRoom;
        if (told == null) {
            return;
        } else if (!loops.hasNext()) {
            end();
            told.run();
            return;
        }
        SharedUpstream.Loop other = loops.next();
        other.loop().execute(() -> {
            boolean given = other.giveUpName();
            here.loop().execute(() -> onAnswer(given));
        });
    }

    private void onAnswer(boolean given) {
        Supplier<StreamOpener.@Nullable Opening> asked = opening;
        StreamOpener.Opening made = given && asked != null ? asked.get() : null;
        if (made == null) {
            askNext();
        } else if (opening == null) {
            made.cancel(); // inside the call
        } else {
            end();
            begun = made;
        }
    }

    private void end() {
        opening = null;
        noRoom = null;
    }

    @Override
    public void cancel() {
        end();
        if (begun != null) {
            begun.cancel();
        }
    }

    @Override
    public void expire() {
        end();
        if (begun != null) {
            begun.expire();
        }
    }
}
