package dev.gateway.upstream.discovery;

import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.upstream.EndpointSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Endpoints of an entry: the entry itself, or the endpoints of its source, which share the weight of the entry. */
final class EntryEndpoints {
    private EntryEndpoints() {}

    /**
     * Returns the endpoints of an entry.
     *
     * @param member the source of the entry, null if it needs none
     * @param source the source as pages show it
     */
    static List<EndpointSpec> of(EndpointConfig entry, SourceGroup.@Nullable Member member, String source) {
        if (member == null) {
            EndpointSpec itself = EndpointEntries.spec(entry);
            return itself == null ? List.of() : List.of(itself.in(1, null, source));
        }
        List<EndpointSpec> told = member.endpoints();
        double total = told.stream().mapToDouble(EndpointSpec::weight).sum();
        return told.stream()
                .map(endpoint -> endpoint.in(entry.weight() / total, entry.zone(), source))
                .toList();
    }
}
