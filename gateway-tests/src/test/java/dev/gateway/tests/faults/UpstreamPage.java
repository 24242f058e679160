package dev.gateway.tests.faults;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.support.Rig;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;

/** The first upstream of a gateway's page {@code /upstreams}. */
final class UpstreamPage {
    private UpstreamPage() {}

    static JsonNode read(Rig rig) throws Exception {
        return new ObjectMapper().readTree(rig.admin("/upstreams")).at("/upstreams/0");
    }

    /** Returns the endpoints with their ports. */
    static Set<String> endpoints(Rig rig) throws Exception {
        Set<String> endpoints = new TreeSet<>();
        read(rig)
                .get("endpoints")
                .forEach(each -> endpoints.add(each.get("endpoint").asText()));
        return endpoints;
    }

    /** Waits until the upstream has these endpoints and no others. */
    static void await(Rig rig, Collection<String> wanted) throws Exception {
        while (!endpoints(rig).equals(new TreeSet<>(wanted))) {
            LockSupport.parkNanos(20_000_000); // the test's timeout ends this
        }
    }

    /** Waits until the first source of the endpoints has this state. */
    static void awaitSource(Rig rig, String state) throws Exception {
        while (!read(rig).at("/sources/0/state").asText().equals(state)) {
            LockSupport.parkNanos(20_000_000); // the test's timeout ends this
        }
    }
}
