package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/** State of an endpoint that the endpoint of the same address takes over in the next generation. */
record Legacy(
        boolean draining,
        Host.@Nullable SessionDrain sessionDrain,
        boolean checked,
        @Nullable String failedCheck,
        Host reached,
        int failures,
        Ejection ejection) {
    /** Copies the state; the caller holds the lock of the host's {@link Health}. */
    static Legacy of(Host host) {
        Ejection ejection = new Ejection();
        ejection.inherit(host.ejection);
        return new Legacy(
                host.draining, host.sessionDrain, host.checked, host.failedCheck, host, host.failures.get(), ejection);
    }

    /** Gives the host the state that its settings use; the caller holds the lock of the host's {@link Health}. */
    void give(Host host, HealthSettings settings) {
        host.draining = draining;
        host.sessionDrain = sessionDrain;
        host.setChosen(reached.isChosen(), false); // until its upstream chooses
        host.inheritReach(reached);
        OutlierDetection outliers = settings.outliers();
        if (outliers != null) {
            host.failures.set(failures % Math.max(1, outliers.config().consecutive5xx()));
            host.ejection.inherit(ejection);
        }
        host.checked = settings.check() != null && checked;
        host.inheritFailedCheck(settings.check() == null ? null : failedCheck, reached);
    }
}
