package dev.gateway.exchange.route;

import dev.gateway.message.RequestHead;
import dev.gateway.message.path.PathReadings;
import dev.gateway.message.path.PathReadings.Reading;
import dev.gateway.message.path.PathReadings.Separators;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The routes of a listener some of which refuse requests, or ask who sends them. A path that an upstream may read in
 * another way is looked up in that way, too: if it leads to another such route then, that is the one. Paths that all
 * upstreams read in one way cost nothing more, unless the path of such a route has escapes. Nor do listeners without such
 * routes. Immutable.
 *
 * <p>Each expression reads a path from its start to its end, so that a long path with many readings would take long. It is
 * refused.
 */
final class GuardedTable implements Router {
    private final RouteTable written;
    private final Map<Separators, RouteTable> decoded;
    private final Map<Separators, RouteTable> plain;
    private final boolean hasEscapedRules;
    private final boolean hasGuardsOfWholePaths;
    private final @Nullable Match unclear;
    private final List<RouteTable> eachPlain; // once

    /**
     * Makes a router.
     *
     * @param written by the paths of the rules
     * @param decoded the same rules, by their paths as servers decode them
     * @param plain like {@code decoded}, for paths without escapes: of rules for one path, those written without escapes come
     *     first; empty if no rule that guards has escapes
     * @param hasEscapedRules whether a rule has escapes
     * @param hasGuardsOfWholePaths whether a rule that guards by more than limits is for whole paths, and not for all paths below
     * @param unclear the match of a path that leads nowhere and has too many readings to look them up; null if no rule has an
     *     expression
     */
    GuardedTable(
            RouteTable written,
            Map<Separators, RouteTable> decoded,
            Map<Separators, RouteTable> plain,
            boolean hasEscapedRules,
            boolean hasGuardsOfWholePaths,
            @Nullable Match unclear) {
        this.written = written;
        this.decoded = decoded;
        this.plain = plain;
        this.hasEscapedRules = hasEscapedRules;
        this.hasGuardsOfWholePaths = hasGuardsOfWholePaths;
        this.unclear = unclear;
        this.eachPlain = plain.values().stream().distinct().toList();
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a match is the one found, or another
    public @Nullable Match match(RequestHead head) {
        Match found = written.match(head);
        if (found != null && found.route().refusesAll()) {
            return found;
        }
        Match shorter = withoutSlash(head, found, found, written, head.path(), head.queryStart());
        if (shorter != found) {
            return shorter;
        }
        if (!PathReadings.isAmbiguous(head.path(), head.queryStart())) {
            return plain(head, found);
        }
        boolean isEscaped = PathReadings.hasEscapes(head.path(), head.queryStart());
        List<Reading> readings = PathReadings.all(head.path(), head.queryStart(), hasEscapedRules);
        if (unclear != null && PathReadings.areTooMany(readings)) {
            return found == null ? unclear : found.asUnclear();
        }
        for (Reading reading : readings) {
            RouteTable table = table(reading.ofRules(), isEscaped);
            Match guarded =
                    guarded(head, found, table, reading.path(), reading.path().length());
            if (guarded != found) {
                return guarded;
            }
        }
        return found;
    }

    @SuppressWarnings("ReferenceEquality") // as above
    private @Nullable Match plain(RequestHead head, @Nullable Match found) {
        for (int i = 0; i < eachPlain.size(); i++) {
            Match guarded = guarded(head, found, eachPlain.get(i), head.path(), head.queryStart());
            if (guarded != found) {
                return guarded;
            }
        }
        return found;
    }

    /** Looks up a reading, which is {@code length} bytes of {@code path}, and returns the match that counts then. */
    @SuppressWarnings("ReferenceEquality") // as above
    private @Nullable Match guarded(
            RequestHead head, @Nullable Match found, RouteTable table, AsciiString path, int length) {
        Match read = table.match(head, path, length);
        Match guarded = guarded(found, read);
        return guarded != found ? guarded : withoutSlash(head, found, read, table, path, length);
    }

    /**
     * Looks up a reading without the slash at its end: to many frameworks that makes no difference. But a rule for the very path
     * with the slash says what is to become of it. Rules that only limit requests do not count: many applications redirect
     * between the two.
     *
     * @param read the match of the reading with the slash
     */
    private @Nullable Match withoutSlash(
            RequestHead head,
            @Nullable Match found,
            @Nullable Match read,
            RouteTable table,
            AsciiString path,
            int length) {
        int shorter = length - 1;
        boolean isOwn = read != null && (read.isExact() || read.prefixLength() == shorter);
        if (!hasGuardsOfWholePaths || found == null || isOwn || shorter < 1 || path.byteAt(shorter) != '/') {
            return found;
        }
        Match other = table.match(head, path, shorter);
        return other == null || !other.route().guardsAccess() ? found : guarded(found, other);
    }

    private RouteTable table(@Nullable Separators ofRules, boolean isEscaped) {
        return ofRules == null ? written : (isEscaped ? decoded : plain).getOrDefault(ofRules, written);
    }

    /** Returns the match of another reading if that leads to another route which guards, else the one found. */
    @SuppressWarnings("ReferenceEquality") // a route is made once
    private static @Nullable Match guarded(@Nullable Match found, @Nullable Match other) {
        boolean isOther = other != null && (found == null || other.route() != found.route());
        return other != null && isOther && other.route().guards()
                ? other.asReading(found == null ? null : found.route())
                : found;
    }
}
