package dev.gateway;

import dev.gateway.observe.Metrics;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.Upstream;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after the health of endpoints of the generation in force: tells operators of those that are ejected, and has them
 * return when their time is over. Upstreams of earlier generations, which get no new requests, are left alone.
 */
final class HealthWatch {
    private static final Logger log = LoggerFactory.getLogger(HealthWatch.class);

    private final Metrics metrics;
    private volatile List<Upstream> watched = List.of();

    HealthWatch(Metrics metrics) {
        this.metrics = metrics;
    }

    /** From now on these are looked after and no others; one thread at a time may call. */
    void use(List<Upstream> upstreams) {
        List<Upstream> before = watched;
        watched = upstreams;
        before.stream().filter(each -> !upstreams.contains(each)).forEach(each -> each.health()
                .tell(Health.Listener.NONE));
        upstreams.stream().filter(each -> !before.contains(each)).forEach(each -> each.health()
                .tell(new Teller(each)));
    }

    /** Lets endpoints return whose time is over; called each second. */
    void review() {
        watched.forEach(upstream -> upstream.health().review());
    }

    private final class Teller implements Health.Listener {
        private final Upstream upstream;

        private Teller(Upstream upstream) {
            this.upstream = upstream;
        }

        @Override
        public void onEjected(Endpoint endpoint, long millis, int inService) {
            metrics.onEjected(upstream.name());
            log.warn(
                    "Endpoint {} of upstream {} has failed too often and is ejected for {} s; {} of {} are in service",
                    endpoint,
                    upstream,
                    millis / 1000.0,
                    inService,
                    upstream.endpoints().size());
        }

        @Override
        public void onReturned(Endpoint endpoint) {
            log.info("Endpoint {} of upstream {} gets requests again", endpoint, upstream);
        }
    }
}
