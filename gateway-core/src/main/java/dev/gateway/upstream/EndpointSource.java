package dev.gateway.upstream;

import java.util.List;
import java.util.function.Consumer;

/**
 * Endpoint source (service discovery): finds endpoints, and reports each change. It works off the path of requests; all
 * upstreams with the same entry share one source.
 */
public interface EndpointSource {
    /**
     * Starts looking for hosts; called once.
     *
     * @param listener gets the list of all endpoints after each change, on any thread, but never two lists at a time. Their
     *     weights are relative to each other. The list is empty if there are no endpoints, or if the first query fails. If
     *     endpoints are known at once, the listener gets them before this method returns
     */
    void start(Consumer<List<EndpointSpec>> listener);

    /** Stops it. The listener may still get a list that is on its way. */
    void stop();

    /** Looks for changes at once, because of a reload; only if that takes little time. Called on the reload thread. */
    default void refresh() {}

    /** Returns the state of this source. Any thread may call this. */
    SourceStatus status();
}
