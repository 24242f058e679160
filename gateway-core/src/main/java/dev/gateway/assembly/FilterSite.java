package dev.gateway.assembly;

import dev.gateway.filter.auth.AuthWork;
import dev.gateway.jwks.KeyClient;
import dev.gateway.upstream.Upstream;
import java.util.List;
import java.util.Map;

/**
 * Filter site: where a filter is made, and what it may use there.
 *
 * @param rule what logs and metrics call the rule that has the filter
 * @param states what outlives the generation: contents of files, counts
 * @param work threads for what would hold up an event loop
 * @param keys makes sets of keys that are fetched
 * @param limitClaims claims that limits of the rule count by
 * @param upstreams those of the generation, by their names
 */
record FilterSite(
        String rule,
        FilterStates.Prepared states,
        AuthWork work,
        KeyClient keys,
        List<String> limitClaims,
        Map<String, Upstream> upstreams) {
    /** Returns the upstream of a name. */
    Upstream upstream(String name) {
        Upstream found = upstreams.get(name);
        if (found == null) {
            throw new IllegalArgumentException("no upstream " + name);
        }
        return found;
    }
}
