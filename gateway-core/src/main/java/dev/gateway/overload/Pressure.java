package dev.gateway.overload;

/**
 * Resource pressure: how much is in use of something that the process may run out of. Asked by one thread, several times a
 * second.
 */
public interface Pressure {
    /** Returns what it is. */
    Resource resource();

    /** Returns which part of it is in use: 0 for nothing, 1 for all. */
    double level();

    /** Returns for people what {@link #level} found last. */
    default String text(double level) {
        return Math.round(100 * level) + " % in use";
    }

    /** Whether there is more of it when connections close that nobody uses. */
    default boolean isEasedByClosing() {
        return true;
    }

    /** Whether there is more of it when new connections and requests are refused. */
    default boolean isEasedByRefusing() {
        return true;
    }

    /** Other settings hold from the next look on. */
    default void configure(OverloadSettings settings) {}
}
