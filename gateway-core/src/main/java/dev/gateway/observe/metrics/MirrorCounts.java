package dev.gateway.observe.metrics;

/** Sink of what becomes of copies of requests. Names are those of the configuration. */
public interface MirrorCounts {
    /** Takes how many copies a rule has in progress to an upstream. */
    void active(String route, String upstream, long count);

    /** Takes how many of them have ended with a result, which is a word of a closed set. */
    void ended(String route, String upstream, String result, long count);
}
