package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/** What an endpoint leaves to the one of its address in the next generation. */
record Legacy(boolean draining, @Nullable String failedCheck, Host reached, int failures, Ejection ejection) {
    /** Takes it down; the health that the host is part of guards the call. */
    static Legacy of(Host host) {
        Ejection ejection = new Ejection();
        ejection.inherit(host.ejection);
        return new Legacy(host.draining, host.failedCheck, host, host.failures.get(), ejection);
    }

    /** Gives the host what its settings have a use for; the health that the host is part of guards the call. */
    void give(Host host, HealthSettings settings) {
        host.draining = draining;
        host.inheritReach(reached);
        OutlierDetection outliers = settings.outliers();
        if (outliers != null) {
            host.failures.set(failures % Math.max(1, outliers.consecutive5xx()));
            host.ejection.inherit(ejection);
        }
        host.failedCheck = settings.check() == null ? null : failedCheck;
    }
}
