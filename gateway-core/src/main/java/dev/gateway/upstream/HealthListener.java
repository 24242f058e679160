package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/** A listener for ejections and health checks. Any thread may call it; the caller holds no lock. */
public interface HealthListener {
    /** Ignores all events. */
    HealthListener NONE = new HealthListener() {
        @Override
        public void onEjected(Endpoint endpoint, String reason, long millis, int inService) {}

        @Override
        public void onReturned(Endpoint endpoint) {}

        @Override
        public void onChecked(Endpoint endpoint, @Nullable String failure, int inService) {}

        @Override
        public void onPanic(boolean panic, int inService) {}
    };

    /**
     * An endpoint is ejected for some time.
     *
     * @param reason what it has done, as a predicate such as "has failed too often"
     * @param inService how many endpoints are still in service
     */
    void onEjected(Endpoint endpoint, String reason, long millis, int inService);

    /** The time of an ejected endpoint is over. */
    void onReturned(Endpoint endpoint);

    /**
     * Active checks have found that an endpoint has become healthy or unhealthy.
     *
     * @param failure why it is unhealthy, or null if it is healthy
     * @param inService how many endpoints are in service
     */
    void onChecked(Endpoint endpoint, @Nullable String failure, int inService);

    /**
     * Panic mode has begun or ended: so few endpoints are in service that all get requests. Called up to a second later.
     *
     * @param inService how many endpoints are in service
     */
    void onPanic(boolean panic, int inService);
}
