package dev.gateway.runtime;

import dev.gateway.admin.AdminPages.Outcome;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.Suggestions;
import dev.gateway.format.Durations;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.SessionPersistence;
import dev.gateway.upstream.Upstream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Endpoint drain. Lets endpoints get no new requests, and get them again, by the thread that reloads: what drains is known
 * to each generation that follows, for as long as the endpoint is part of it. {@link SavedDrains} keeps it for the next start.
 */
public final class EndpointDrain {
    private static final Logger log = LoggerFactory.getLogger(EndpointDrain.class);

    private static final Duration DAY = Duration.ofDays(1);

    private final Generations generations;
    private final DataPlane dataPlane;
    private final ScheduledExecutorService thread;
    private long drains; // so far, on that thread

    /** Makes it; the thread is the one that reloads. */
    public EndpointDrain(Generations generations, DataPlane dataPlane, ScheduledExecutorService thread) {
        this.generations = generations;
        this.dataPlane = dataPlane;
        this.thread = thread;
    }

    /**
     * Lets an endpoint get no new requests.
     *
     * @param sessions how long its sessions stay, zero to move them at once; null for as long as a session lasts, or a day
     */
    public CompletableFuture<Outcome> drain(
            String upstream, String endpoint, @Nullable Duration sessions, String asker) {
        return change(() -> drain(upstream, endpoint, sessions), asker);
    }

    /** Lets an endpoint get requests again. */
    public CompletableFuture<Outcome> undrain(String upstream, String endpoint, String asker) {
        return change(() -> undrain(upstream, endpoint), asker);
    }

    private CompletableFuture<Outcome> change(Supplier<Outcome> change, String asker) {
        return CompletableFuture.supplyAsync(
                () -> {
                    Outcome outcome = change.get();
                    if (!outcome.succeeded()) {
                        return outcome;
                    }
                    log.info("{}, requested by {}", outcome.text(), asker);
                    String problem = generations.drains().save(); // before the operator relies on it
                    return problem.isEmpty() ? outcome : Outcome.done(outcome.text() + "\n" + problem);
                },
                thread);
    }

    /** Ends in time the sessions of endpoints that drain since before the start; on the thread, at the start. */
    public void resume() {
        for (Upstream upstream : generations.required().snapshot.upstreams()) {
            for (Health.Drain drain : upstream.health().drains()) {
                if (drain.number() != Health.Drain.NO_SESSIONS) {
                    endSessionsAfter(upstream.name(), drain.endpoint(), drain.number(), drain.sessionsNanos());
                }
            }
        }
    }

    private Outcome drain(String name, String endpoint, @Nullable Duration asked) {
        Upstream upstream = generations.required().upstream(name);
        SessionPersistence sessions = upstream == null ? null : upstream.sessions();
        if (upstream == null || sessions == null || (asked != null && asked.isZero())) {
            return set(name, endpoint, true);
        }
        long number = ++drains;
        Duration stay = asked != null
                ? asked
                : sessions.timeoutSeconds() > 0 ? Duration.ofSeconds(sessions.timeoutSeconds()) : DAY;
        if (!upstream.health().drainButSessions(endpoint, number, stay.toNanos())) {
            return unknown(upstream, endpoint);
        }
        endSessionsAfter(name, endpoint, number, stay.toNanos());
        return Outcome.done("endpoint " + endpoint + " of upstream " + name
                + " gets no new requests but those of its sessions, for " + Durations.print(stay));
    }

    private void endSessionsAfter(String name, String endpoint, long number, long nanos) {
        thread.schedule(() -> endSessions(name, endpoint, number), nanos, TimeUnit.NANOSECONDS);
    }

    private void endSessions(String name, String endpoint, long number) {
        Upstream upstream = generations.required().upstream(name);
        if (upstream != null && upstream.health().endSessions(endpoint, number)) {
            dataPlane.pools().drain(upstream, endpoint, true);
            log.info("Sessions of endpoint {} of upstream {}, which drains, go to others now", endpoint, name);
        }
    }

    private Outcome undrain(String name, String endpoint) {
        Upstream upstream = generations.required().upstream(name);
        boolean drains = upstream != null
                && upstream.health().drains().stream()
                        .anyMatch(drain -> drain.endpoint().equals(endpoint));
        Outcome outcome = set(name, endpoint, false);
        return drains || !outcome.succeeded()
                ? outcome
                : Outcome.done("endpoint " + endpoint + " of upstream " + name + " did not drain: nothing has changed");
    }

    private Outcome unknown(String name) {
        List<String> known = generations.required().snapshot.upstreams().stream()
                .map(Upstream::name)
                .sorted()
                .toList();
        String near = Suggestions.nearest(name, known);
        String hint = known.isEmpty()
                ? "the configuration has none"
                : "expected one of " + MessageText.shorten(String.join(", ", known));
        return Outcome.unknown("no upstream " + name + ": " + (near == null ? hint : "did you mean " + near + "?"));
    }

    private static Outcome unknown(Upstream upstream, String endpoint) {
        String known = upstream.endpoints().stream().map(Endpoint::toString).collect(Collectors.joining(", "));
        return Outcome.unknown("upstream " + upstream.name() + " has no endpoint " + endpoint
                + (known.isEmpty() ? "" : ": expected one of " + known));
    }

    private Outcome set(String name, String endpoint, boolean drain) {
        Upstream upstream = generations.required().upstream(name);
        if (upstream == null) {
            return unknown(name);
        }
        if (!upstream.health().drain(endpoint, drain)) {
            return unknown(upstream, endpoint);
        }
        dataPlane.pools().drain(upstream, endpoint, drain);
        return Outcome.done("endpoint " + endpoint + " of upstream " + name
                + (drain ? " gets no new requests" : " gets requests again"));
    }
}
