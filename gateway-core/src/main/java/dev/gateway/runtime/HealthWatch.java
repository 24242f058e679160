package dev.gateway.runtime;

import dev.gateway.observe.metrics.Metrics;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.HealthListener;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.health.HealthChecks;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the health of the active generation's endpoints: runs their checks, ends ejections when their time is over, and
 * reports changes to operators. Upstreams of earlier generations, which get no new
 * requests, are left alone.
 */
final class HealthWatch {
    private static final Logger log = LoggerFactory.getLogger(HealthWatch.class);

    private final Metrics metrics;
    private final HealthChecks checks;
    private volatile List<Upstream> watched = List.of();

    HealthWatch(Metrics metrics, HealthChecks checks) {
        this.metrics = metrics;
        this.checks = checks;
    }

    /** From now on these are looked after and no others; one thread at a time may call. */
    void use(List<Upstream> upstreams) {
        List<Upstream> before = watched;
        watched = upstreams;
        for (Upstream gone : before) {
            if (!upstreams.contains(gone)) {
                checks.stop(gone);
                gone.health().tell(HealthListener.NONE);
            }
        }
        for (Upstream added : upstreams) {
            if (!before.contains(added)) {
                added.health().tell(new HealthLogger(added));
                checks.start(added);
            }
        }
    }

    /** Lets endpoints return whose time is over; called each second. */
    void review() {
        watched.forEach(upstream -> upstream.health().review());
    }

    /** Health logger: writes to the log, and counts, what becomes of the endpoints of one upstream. Called on any thread. */
    private final class HealthLogger implements HealthListener {
        private final Upstream upstream;

        private HealthLogger(Upstream upstream) {
            this.upstream = upstream;
        }

        @Override
        public void onEjected(Endpoint endpoint, String reason, long millis, int inService) {
            metrics.onEjected(upstream.name());
            log.warn(
                    "Endpoint {} of upstream {} {} and is ejected for {} s; {} of {} are in service",
                    endpoint,
                    upstream,
                    reason,
                    millis / 1000.0,
                    inService,
                    upstream.endpoints().size());
        }

        @Override
        public void onReturned(Endpoint endpoint) {
            Health.State state = upstream.health().report(endpoint).state();
            if (state == Health.State.UNHEALTHY || state == Health.State.DRAINING) {
                log.info(
                        "Endpoint {} of upstream {} is no longer ejected, but {}, and so gets no requests",
                        endpoint,
                        upstream,
                        state.label());
            } else {
                log.info("Endpoint {} of upstream {} gets requests again", endpoint, upstream);
            }
        }

        @Override
        public void onChecked(Endpoint endpoint, @Nullable String failure, int inService) {
            int all = upstream.endpoints().size();
            if (failure == null) {
                log.info(
                        "Endpoint {} of upstream {} is healthy again; {} of {} are in service",
                        endpoint,
                        upstream,
                        inService,
                        all);
            } else {
                log.warn(
                        "Endpoint {} of upstream {} is unhealthy: {}; {} of {} are in service",
                        endpoint,
                        upstream,
                        failure,
                        inService,
                        all);
            }
        }

        @Override
        public void onPanic(boolean panic, int inService) {
            int all = upstream.endpoints().size();
            if (panic) {
                log.warn(
                        "Upstream {} is in panic mode: only {} of {} endpoints are in service, so all that do not drain "
                                + "get requests",
                        upstream,
                        inService,
                        all);
            } else {
                log.info("Upstream {} is no longer in panic mode: {} of {} are in service", upstream, inService, all);
            }
        }
    }
}
