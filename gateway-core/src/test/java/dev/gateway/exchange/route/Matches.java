package dev.gateway.exchange.route;

import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.PathMatch;
import dev.gateway.config.route.MatchConfig.PathType;
import dev.gateway.config.route.MatchConfig.ValueMatch;
import dev.gateway.config.route.MatchConfig.ValueType;
import dev.gateway.config.value.Position;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Matches of rules that stand in no file. */
final class Matches {
    private Matches() {}

    static MatchConfig of(
            PathType type, String path, @Nullable String method, List<ValueMatch> headers, List<ValueMatch> queries) {
        PathMatch match = new PathMatch(Position.NOWHERE, type, path, false);
        return new MatchConfig(Position.NOWHERE, match, method, headers, queries);
    }

    /** Returns a condition on a header or a query parameter. */
    static ValueMatch exact(String name, String value) {
        return new ValueMatch(Position.NOWHERE, ValueType.EXACT, name, value, false);
    }

    /** Returns a condition on a header or a query parameter. */
    static ValueMatch regex(String name, String value) {
        return new ValueMatch(Position.NOWHERE, ValueType.REGULAR_EXPRESSION, name, value, false);
    }
}
