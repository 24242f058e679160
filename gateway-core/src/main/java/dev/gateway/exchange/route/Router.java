package dev.gateway.exchange.route;

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
     * @param isExact whether the match was for this path only
     * @param isReading whether the route was found by another reading of the path, as an upstream may have it
     * @param insteadOf where the path leads as it is written, if the route was found by another reading; null for nowhere. The
     *     route itself if the path has too many readings to look them up
     */
    record Match(Route route, int prefixLength, boolean isExact, boolean isReading, @Nullable Route insteadOf) {
        /** Makes the match of a path as it is written, which is not for this path only. */
        public Match(Route route, int prefixLength) {
            this(route, prefixLength, false, false, null);
        }

        /** Makes the match of a path as it is written that is for this path only. */
        static Match exact(Route route) {
            return new Match(route, 0, true, false, null);
        }

        /** Returns the same route, found by another reading of a path that leads to {@code written} as it is written. */
        Match asReading(@Nullable Route written) {
            return new Match(route, prefixLength, isExact, true, written);
        }

        /** Returns the same for a path with too many readings to look them up. */
        Match asUnclear() {
            return asReading(route);
        }

        /** Whether the path has too many readings to look them up, any of which might lead to a route that guards. */
        @SuppressWarnings("ReferenceEquality") // a route is made once
        public boolean isUnclear() {
            return isReading && insteadOf == route;
        }

        /**
         * Whether the request had better be refused: it would go upstream by a rule that its path as written does not have, or
         * nobody knows whether it would. What that rule makes of the path, and who may use it, is not what the upstream would
         * see.
         */
        public boolean isDeceptive() {
            return isUnclear() || (isReading && !route.refusesAll());
        }
    }
}
