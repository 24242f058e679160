package dev.gateway.upstream;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints of an upstream at one moment, and their live state. Each has a unique index. A new endpoint gets the index
 * of a removed one, so that indexes stay small. Immutable.
 */
final class HostSet {
    final List<Host> hosts;
    final List<Endpoint> endpoints; // in the same order
    private final @Nullable Host[] byIndex;

    HostSet(List<Host> hosts) {
        this.hosts = List.copyOf(hosts);
        this.endpoints = this.hosts.stream().map(Host::endpoint).toList();
        this.byIndex = new @Nullable
                Host[1 + endpoints.stream().mapToInt(Endpoint::index).max().orElse(-1)];
        this.hosts.forEach(host -> byIndex[host.endpoint().index()] = host);
    }

    /** Returns the live state of an endpoint, null if it is not one of these. */
    @Nullable
    Host host(Endpoint endpoint) {
        int index = endpoint.index();
        Host host = index >= 0 && index < byIndex.length ? byIndex[index] : null;
        return host != null && host.endpoint().isSameAddress(endpoint) ? host : null;
    }

    /**
     * Returns the set for these specifications, in their order. Endpoints that stay keep their state and index. Several
     * specifications of one address make one endpoint with the sum of their weights.
     *
     * @param preparation prepares the live state of each new endpoint
     */
    HostSet next(List<EndpointSpec> wanted, Consumer<Host> preparation) {
        Map<Endpoint.Address, EndpointSpec> specs = new LinkedHashMap<>();
        wanted.forEach(spec -> specs.merge(spec.address(), spec, EndpointSpec::plus));
        Map<Endpoint.Address, Host> known = new HashMap<>();
        BitSet taken = new BitSet();
        for (Host host : hosts) {
            EndpointSpec spec = specs.get(host.endpoint().address());
            if (spec != null && spec.describes(host.endpoint())) {
                known.putIfAbsent(host.endpoint().address(), host);
            }
        }
        known.values().forEach(host -> taken.set(host.endpoint().index()));
        List<Host> next = new ArrayList<>();
        specs.forEach((address, spec) -> {
            Host host = known.get(address);
            if (host == null) {
                int index = taken.nextClearBit(0);
                taken.set(index);
                host = new Host(spec.at(index));
                preparation.accept(host);
            }
            host.setSpec(spec);
            next.add(host);
        });
        return new HostSet(next);
    }
}
