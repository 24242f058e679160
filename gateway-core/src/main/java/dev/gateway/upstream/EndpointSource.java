package dev.gateway.upstream;

import java.util.List;
import java.util.function.Consumer;

/**
 * Endpoint source (service discovery): finds the hosts of a name, and reports each change. It works off the path of
 * requests; all upstreams with the same name share one source.
 */
public interface EndpointSource {
    /**
     * Starts looking for hosts; called once.
     *
     * @param listener gets the list of all hosts after each change, on any thread, but never two lists at a time. The list
     *     is empty as long as only the name itself is known
     */
    void start(Consumer<List<String>> listener);

    /** Stops it. The listener may still get a list that is on its way. */
    void stop();
}
