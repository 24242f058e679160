package dev.gateway.route;

import dev.gateway.message.PathReadings;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The routes of a listener some of which refuse requests, or ask who sends them. A path that an upstream may read in
 * another way is looked up in that way, too: if it leads to another such route then, that is the one. Paths without escapes
 * and semicolons, and listeners without such routes, cost what they cost. Immutable.
 */
final class GuardedTable implements Router {
    private final RouteTable written;
    private final RouteTable decoded;

    /**
     * Makes a router.
     *
     * @param written by the paths of the rules
     * @param decoded the same rules, by their paths without escapes
     */
    GuardedTable(RouteTable written, RouteTable decoded) {
        this.written = written;
        this.decoded = decoded;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a route is made once
    public @Nullable Match match(RequestHead head) {
        Match found = written.match(head);
        if (!PathReadings.isAmbiguous(head.path(), head.queryStart())
                || (found != null && found.route().refusesAll())) {
            return found;
        }
        List<AsciiString> readings = PathReadings.of(head.path(), head.queryStart());
        for (int i = 0; i < readings.size(); i++) {
            AsciiString reading = readings.get(i);
            Match guard = decoded.match(head, reading, reading.length());
            boolean isOther = guard != null && (found == null || guard.route() != found.route());
            if (guard != null && isOther && guard.route().guards()) {
                return new Match(guard.route(), guard.prefixLength(), true, found == null ? null : found.route());
            }
        }
        return found;
    }
}
