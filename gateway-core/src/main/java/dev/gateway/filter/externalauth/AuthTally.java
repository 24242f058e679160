package dev.gateway.filter.externalauth;

import java.util.concurrent.atomic.LongAdder;

/** Counts what an auth server has decided about the requests of a rule. Safe from any thread; outlives the filter. */
final class AuthTally {
    private final LongAdder allowed = new LongAdder();
    private final LongAdder denied = new LongAdder();
    private final LongAdder failed = new LongAdder();

    void onAllowed() {
        allowed.increment();
    }

    void onDenied() {
        denied.increment();
    }

    void onFailed() {
        failed.increment();
    }

    /** Returns how many requests it has allowed. */
    public long allowed() {
        return allowed.sum();
    }

    /** Returns how many requests it has refused. */
    public long denied() {
        return denied.sum();
    }

    /** Returns how many requests it has not decided about, whatever became of them. */
    public long failed() {
        return failed.sum();
    }
}
