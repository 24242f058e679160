package dev.gateway.route;

import dev.gateway.message.PathReadings;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The routes of a listener some of which refuse requests, or ask who sends them. A path that an upstream may read in
 * another way is looked up in that way, too: if it leads to another such route then, that is the one. Paths without escapes
 * and semicolons cost nothing more, unless such a route is written with escapes. Nor do listeners without such routes. Immutable.
 */
final class GuardedTable implements Router {
    private final RouteTable written;
    private final RouteTable decoded;
    private final boolean everyPath;

    /**
     * Makes a router.
     *
     * @param written by the paths of the rules
     * @param decoded the same rules, by their paths without escapes
     * @param everyPath whether a rule that guards has escapes, so that a path without any may be the same to an upstream
     */
    GuardedTable(RouteTable written, RouteTable decoded, boolean everyPath) {
        this.written = written;
        this.decoded = decoded;
        this.everyPath = everyPath;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a route is made once
    public @Nullable Match match(RequestHead head) {
        Match found = written.match(head);
        if (!(everyPath || PathReadings.isAmbiguous(head.path(), head.queryStart()))
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
