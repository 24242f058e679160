package dev.gateway.upstream;

import java.util.concurrent.TimeUnit;

/** Whether and for how long one endpoint is ejected, and how often it was. Guarded by its {@link Health}. */
final class Ejection {
    private boolean lasting;
    private long since; // nanoseconds; when it began, or when it ended if it is over
    private long millis;
    private long inARow; // one less for each base time in service since the last one
    private long count;

    /** Begins; returns how many milliseconds it lasts. */
    long begin(OutlierDetection policy, long now) {
        long base = policy.baseEjectionMillis();
        long inService = count == 0 ? 0 : TimeUnit.NANOSECONDS.toMillis(now - since);
        long most = policy.maxEjectionMillis() / base + 1; // a higher number would make no difference
        inARow = Math.min(Math.max(0, inARow - inService / base) + 1, most);
        millis = Math.min(base * inARow, policy.maxEjectionMillis());
        count++;
        lasting = true;
        since = now;
        return millis;
    }

    boolean isLasting() {
        return lasting;
    }

    /** Returns how many milliseconds are left, 0 if it is over or should be. */
    long leftMillis(long now) {
        return lasting ? Math.max(0, millis - TimeUnit.NANOSECONDS.toMillis(now - since)) : 0;
    }

    void end(long now) {
        lasting = false;
        since = now;
    }

    /** Returns how often it began. */
    long count() {
        return count;
    }

    /** Continues the ejection of the endpoint in the previous generation. */
    void inherit(Ejection before) {
        lasting = before.lasting;
        since = before.since;
        millis = before.millis;
        inARow = before.inARow;
        count = before.count;
    }
}
