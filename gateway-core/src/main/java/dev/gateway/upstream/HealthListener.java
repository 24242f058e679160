package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/** A listener for ejections and health checks. Any thread may call it; the caller holds no lock. */
public interface HealthListener {
    /** Is told nothing. */
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
     * An endpoint is ejected for some time; so many others are in service.
     *
     * @param reason what it has done, as the rest of a sentence of which it is the subject
     */
    void onEjected(Endpoint endpoint, String reason, long millis, int inService);

    /** The time of an ejected endpoint is over. */
    void onReturned(Endpoint endpoint);

    /**
     * Checks have found that an endpoint is well again, or not any more.
     *
     * @param failure why not, or null
     * @param inService how many endpoints are
     */
    void onChecked(Endpoint endpoint, @Nullable String failure, int inService);

    /**
     * So few endpoints are in service that all get requests, or not any more. Told up to a second later.
     *
     * @param inService how many endpoints are
     */
    void onPanic(boolean panic, int inService);
}
