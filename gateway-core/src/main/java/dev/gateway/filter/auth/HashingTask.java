package dev.gateway.filter.auth;

/** A password to be hashed. Runs on a thread of {@link AuthWork}. */
interface HashingTask extends Runnable {
    /** It will not be: others, whose logins have not failed, have taken its place. */
    default void evicted() {}
}
