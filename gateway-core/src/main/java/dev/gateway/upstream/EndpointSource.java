package dev.gateway.upstream;

import java.util.List;
import java.util.function.Consumer;

/**
 * Endpoint source (service discovery): tells which hosts something stands for, again and again. Asked off the path of
 * requests, once for all upstreams that want to know.
 */
public interface EndpointSource {
    /**
     * Begins to tell; called once.
     *
     * @param listener told all hosts whenever they have changed, on any thread, one after the other; the empty list if
     *     nothing better is known than the name itself
     */
    void start(Consumer<List<String>> listener);

    /** Ends it; what is being told at this moment may still arrive. */
    void stop();
}
