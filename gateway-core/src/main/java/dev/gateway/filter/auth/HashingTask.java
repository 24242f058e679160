package dev.gateway.filter.auth;

/** A password to be hashed, or a signature to be verified. Runs on a thread of {@link AuthWork}. */
public interface HashingTask extends Runnable {
    /** It will not be: others, who have not failed, have taken its place. */
    default void evicted() {}
}
