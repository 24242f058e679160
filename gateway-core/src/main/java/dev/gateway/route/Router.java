package dev.gateway.route;

import dev.gateway.message.RequestHead;
import org.jspecify.annotations.Nullable;

/** Router. Finds the route of a request: the compiled routes of one listener. Immutable, shared by all event loops. */
public interface Router {
    /** Returns the match of highest precedence, or null. Does not change the head. */
    @Nullable
    Match match(RequestHead head);

    /**
     * A route and how it was reached; made once for each configured match, not for each request.
     *
     * @param prefixLength how many bytes of the path a PathPrefix match covered, 0 for other matches
     * @param insteadOf where the path leads as it is written, if the route was found by another reading of it; else null
     */
    record Match(Route route, int prefixLength, @Nullable Route insteadOf) {
        /** Makes the match of a path as it is written. */
        public Match(Route route, int prefixLength) {
            this(route, prefixLength, null);
        }
    }
}
