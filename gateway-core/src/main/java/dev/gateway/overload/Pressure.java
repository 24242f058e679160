package dev.gateway.overload;

/**
 * Resource pressure: something that the process may run out of, such as heap. Asked by one thread, several times a second.
 */
public interface Pressure {
    /** Returns what it is, in the words of logs and metrics: {@code heap}, {@code directMemory}. */
    String name();

    /** Returns which part of it is in use: 0 for nothing, 1 for all. */
    double level();
}
