package dev.gateway.upstream;

import dev.gateway.format.Durations;
import java.util.concurrent.TimeUnit;

/**
 * Whether and for how long one endpoint is ejected, why, and how often it was. Guarded by its {@link Health}, but any thread
 * may ask what ends it early.
 */
final class Ejection {
    /** The last of the failures that it was ejected for. */
    enum Why {
        /** No connection could be made. */
        NO_CONNECTION,
        /** A request got no answer. */
        NO_ANSWER,
        /** It has answered, but badly. */
        BAD_ANSWER
    }

    private volatile Why why = Why.BAD_ANSWER;
    private volatile boolean lasting;
    private long since; // nanoseconds; when it began, or when it ended if it is over
    private long millis;
    private long inARow; // one less for each base time in service since the last one
    private long count;

    /** Begins; returns how many milliseconds it lasts. */
    long begin(OutlierDetection policy, Why reason, long now) {
        long base = Durations.millis(policy.config().baseEjectionTime());
        long longest = Durations.millis(policy.config().maxEjectionTime());
        long inService = count == 0 ? 0 : TimeUnit.NANOSECONDS.toMillis(now - since);
        long most = longest / base + 1; // a higher number would make no difference
        inARow = Math.min(Math.max(0, inARow - inService / base) + 1, most);
        millis = Math.min(base * inARow, longest);
        count++;
        why = reason;
        lasting = true;
        since = now;
        return millis;
    }

    /** Whether a connection to the endpoint ends it before its time is over. */
    boolean endsByConnection() {
        return lasting && why == Why.NO_CONNECTION;
    }

    /** Whether a good answer of the endpoint to a check does. */
    boolean endsByAnswer() {
        return lasting && why != Why.BAD_ANSWER;
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
        why = before.why;
        lasting = before.lasting;
        since = before.since;
        millis = before.millis;
        inARow = before.inARow;
        count = before.count;
    }
}
