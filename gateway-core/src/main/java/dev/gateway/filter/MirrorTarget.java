package dev.gateway.filter;

import dev.gateway.upstream.Upstream;

/**
 * Request mirroring: where the copy of a request goes.
 *
 * @param upstream one of those that the filter was made with
 * @param tally is told what becomes of the copy
 */
public record MirrorTarget(Upstream upstream, Tally tally) {
    /** Counts copies. Called on the event loops of their exchanges. */
    public interface Tally {
        /** A copy begins. */
        void onBegun();

        /** The copy is over: once for each {@link #onBegun}. */
        void onEnded(MirrorResult result);
    }
}
