package dev.gateway.upstream.discovery;

import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.SourceStatus;
import java.util.List;

/**
 * Endpoint source (service discovery): finds endpoints, and reports each change. It works off the path of requests; all
 * upstreams with the same entry share one source.
 */
public interface EndpointSource {
    /**
     * Starts looking for hosts; called once.
     *
     * @param listener is called on any thread, but never twice at a time. If endpoints are known at once, it gets them before
     *     this method returns
     */
    void start(Listener listener);

    /** Gets the endpoints. */
    interface Listener {
        /**
         * The source has other endpoints than before, or knows them now.
         *
         * @param endpoints all endpoints, with weights relative to each other. The list is empty if the source has no
         *     endpoints, or if its first query fails
         * @param provisional whether the source had no answer yet, not even a failure, and these are used until then
         */
        void onEndpoints(List<EndpointSpec> endpoints, boolean provisional);
    }

    /** Stops it. The listener may still get a list that is on its way. */
    void stop();

    /** Looks for changes at once, because of a reload; only if that takes little time. Called on the reload thread. */
    default void refresh() {}

    /** Returns the state of this source. Any thread may call this. */
    SourceStatus status();
}
