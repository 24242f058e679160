package dev.gateway.filter;

import dev.gateway.message.FieldName;
import dev.gateway.upstream.Upstream;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Filter site: where a filter is made, and what it may use there.
 *
 * @param rule what logs and metrics call the rule that has the filter
 * @param states what outlives the generation: contents of files, counts
 * @param services what the process has one of
 * @param usedClaims verified claims that filters of the rule use
 * @param upstreams those of the generation, by their names
 * @param requestIds names of the fields in which upstreams get the request ID, as the listeners of the rule say
 */
public record FilterSite(
        String rule,
        FilterStates.Prepared states,
        SharedServices services,
        List<String> usedClaims,
        Map<String, Upstream> upstreams,
        Set<FieldName> requestIds) {
    /** Returns the upstream of a name. */
    public Upstream upstream(String name) {
        Upstream found = upstreams.get(name);
        if (found == null) {
            throw new IllegalArgumentException("no upstream " + name);
        }
        return found;
    }
}
