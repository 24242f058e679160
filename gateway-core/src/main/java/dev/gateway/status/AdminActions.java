package dev.gateway.status;

import dev.gateway.admin.AdminPages;
import dev.gateway.admin.AdminPages.Outcome;
import dev.gateway.admin.AdminRequest;
import dev.gateway.admin.AdminResponse;
import dev.gateway.config.yaml.Json;
import dev.gateway.format.Durations;
import dev.gateway.runtime.EndpointDrain;
import dev.gateway.runtime.process.LogLevels;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Admin actions: what an operator can have done at the admin listener. Called by a thread of their own, which never waits.
 */
public final class AdminActions {
    private static final Logger log = LoggerFactory.getLogger(AdminActions.class);
    private static final String HOSTS_LOG =
            "the log belongs to the program that runs this gateway, and so do its levels: set them there";
    private static final String DRAIN = ":drain";
    private static final String UNDRAIN = ":undrain";

    private final Operations operations;
    private final @Nullable LogLevels levels;
    private final EndpointDrain endpoints;

    /**
     * Makes the actions of one gateway.
     *
     * @param levels of the log; null if they are not the gateway's to set
     */
    public AdminActions(Operations operations, @Nullable LogLevels levels, EndpointDrain endpoints) {
        this.operations = operations;
        this.levels = levels;
        this.endpoints = endpoints;
    }

    /** Adds them to the pages. */
    public void addTo(AdminPages pages) {
        pages.post("/reload", asked -> operations.reload("requested by " + asked.asker()));
        pages.post(
                "/drain", asked -> begin("drain", asked, operations::drainAndStay, "draining; /ready tells how far"));
        pages.post("/quit", asked -> begin("quit", asked, operations::drain, "draining, then ending"));
        pages.post("/endpoints/", this::endpoint);
        pages.post("/log-level", this::logLevel);
        pages.get("/log-level", asked -> logLevels());
    }

    private AdminResponse logLevels() {
        return levels == null ? AdminResponse.text(422, HOSTS_LOG) : AdminResponse.json(Json.write(levels.levels()));
    }

    /** Begins what takes as long as exchanges do, in a thread of its own, once the client has been answered. */
    private static CompletableFuture<Outcome> begin(String name, AdminRequest asked, Runnable operation, String told) {
        log.info("{} requested by {}", name, asked.asker());
        return CompletableFuture.completedFuture(Outcome.accepted(told, new Thread(operation, name)::start));
    }

    private CompletableFuture<Outcome> endpoint(AdminRequest asked) {
        String path = asked.rest();
        boolean drain = path.endsWith(DRAIN);
        int slash = path.indexOf('/');
        if (slash < 0 || !(drain || path.endsWith(UNDRAIN))) {
            return CompletableFuture.completedFuture(
                    Outcome.unknown("expected /endpoints/UPSTREAM/HOST:PORT:drain, or :undrain"));
        }
        String upstream = path.substring(0, slash);
        String endpoint = path.substring(slash + 1, path.length() - (drain ? DRAIN : UNDRAIN).length());
        try {
            asked.query().allow(drain ? Set.of("sessions") : Set.of());
            return drain
                    ? endpoints.drain(upstream, endpoint, sessions(asked.query().first("sessions")), asked.asker())
                    : endpoints.undrain(upstream, endpoint, asked.asker());
        } catch (IllegalArgumentException e) {
            return CompletableFuture.completedFuture(Outcome.failed(String.valueOf(e.getMessage())));
        }
    }

    private static @Nullable Duration sessions(@Nullable String text) {
        Duration stay = text == null ? null : Durations.parse(text);
        if (text != null && stay == null) {
            throw new IllegalArgumentException(
                    "sessions: expected a duration such as 2h, or 0s" + Durations.hint(text));
        }
        return stay;
    }

    private CompletableFuture<Outcome> logLevel(AdminRequest asked) {
        if (levels == null) {
            return CompletableFuture.completedFuture(Outcome.failed(HOSTS_LOG));
        }
        try {
            asked.query().allow(Set.of("logger", "level", "for"));
            String time = asked.query().first("for");
            String told = levels.set(
                    asked.query().first("logger", "root"), asked.query().first("level", ""), duration(time));
            log.info("{}, requested by {}", told, asked.asker());
            return CompletableFuture.completedFuture(Outcome.done(told));
        } catch (IllegalArgumentException e) {
            return CompletableFuture.completedFuture(Outcome.failed(String.valueOf(e.getMessage())));
        }
    }

    private static @Nullable Duration duration(@Nullable String text) {
        if (text == null) {
            return null;
        }
        Duration duration = Durations.parse(text);
        if (duration == null || duration.isZero()) {
            throw new IllegalArgumentException(
                    "for: expected a duration such as 10m" + (duration == null ? Durations.hint(text) : ""));
        }
        return duration;
    }
}
