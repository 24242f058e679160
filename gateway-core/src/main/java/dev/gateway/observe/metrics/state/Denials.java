package dev.gateway.observe.metrics.state;

/** Sink of denial counts: takes how often a rule has refused tunnels, or requests that are forwarded like them. */
public interface Denials {
    /** Takes one count; labels are names and words of the configuration. */
    void denied(String listener, String rule, long count);
}
