package dev.gateway.observe.metrics;

/** Sink of limit decisions: takes how many requests the limits of rules let pass and refused. */
public interface LimitDecisions {
    /** Takes one count; the names are those of the configuration. */
    void decided(String route, String limit, boolean allowed, long count);
}
