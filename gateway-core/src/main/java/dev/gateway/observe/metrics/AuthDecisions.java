package dev.gateway.observe.metrics;

/** Sink of decisions of auth servers: takes how many requests of a rule they allowed, refused, or did not decide about. */
public interface AuthDecisions {
    /** Takes one count; the route's name is that of the configuration, the decision a word of a closed set. */
    void decided(String route, String decision, long count);
}
