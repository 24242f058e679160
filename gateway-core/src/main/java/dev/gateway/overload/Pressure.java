package dev.gateway.overload;

import dev.gateway.config.OverloadConfig;

/**
 * Resource pressure: how much of a resource is in use. One thread reads it several times a second.
 */
public interface Pressure {
    /** Returns the resource. */
    Resource resource();

    /** Returns which part of it is in use: 0 for nothing, 1 for all. */
    double level();

    /** Returns a text for people about the last {@link #level}. */
    default String text(double level) {
        return Math.round(100 * level) + " % in use";
    }

    /** Whether closing unused connections frees some of it. */
    default boolean isEasedByClosing() {
        return true;
    }

    /** Whether refusing new connections and requests frees some of it. */
    default boolean isEasedByRefusing() {
        return true;
    }

    /** Changes the settings, from the next {@link #level} on. */
    default void configure(OverloadConfig settings) {}
}
