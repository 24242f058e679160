package dev.gateway.runtime;

import dev.gateway.admin.AdminPages.Outcome;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Endpoint drain. Lets endpoints get no new requests, and get them again, by the thread that reloads: what drains is known
 * to each generation that follows, for as long as the endpoint is part of it.
 */
public final class EndpointDrain {
    private static final Logger log = LoggerFactory.getLogger(EndpointDrain.class);

    private final Generations generations;
    private final Loops loops;
    private final ScheduledExecutorService thread;

    /** Makes it; the thread is the one that reloads. */
    public EndpointDrain(Generations generations, Loops loops, ScheduledExecutorService thread) {
        this.generations = generations;
        this.loops = loops;
        this.thread = thread;
    }

    /** Changes how an endpoint is. */
    public CompletableFuture<Outcome> set(String upstream, String endpoint, boolean drain, String asker) {
        return CompletableFuture.supplyAsync(() -> set(upstream, endpoint, drain), thread)
                .thenApply(outcome -> {
                    if (outcome.succeeded()) {
                        log.info("{}, requested by {}", outcome.text(), asker);
                    }
                    return outcome;
                });
    }

    private Outcome set(String name, String endpoint, boolean drain) {
        Upstream upstream = generations.required().upstream(name);
        if (upstream == null) {
            return Outcome.unknown("no upstream " + name);
        }
        if (!upstream.health().drain(endpoint, drain)) {
            String known = upstream.endpoints().stream().map(Endpoint::toString).collect(Collectors.joining(", "));
            return Outcome.unknown("upstream " + name + " has no endpoint " + endpoint
                    + (known.isEmpty() ? "" : ": expected one of " + known));
        }
        loops.pools().drain(upstream, endpoint, drain);
        return Outcome.done("endpoint " + endpoint + " of upstream " + name
                + (drain ? " gets no new requests" : " gets requests again"));
    }
}
