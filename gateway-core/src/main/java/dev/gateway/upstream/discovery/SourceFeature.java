package dev.gateway.upstream.discovery;

import dev.gateway.config.upstream.EndpointConfig.Place;
import dev.gateway.config.yaml.schema.upstream.SourceType;
import java.io.IOException;

/**
 * Source feature: all that the gateway knows of one kind of endpoint source (service discovery). One is a file or a package;
 * {@code BuiltInSources} lists them. One of another module is found by ServiceLoader.
 */
public interface SourceFeature {
    /** Returns the key of its entries, with its text, and what is written there. */
    SourceType<?, ?> type();

    /**
     * Makes a source that has not started. Called on the reload thread.
     *
     * @param place of the class that the type names
     * @throws IOException if something that it needs cannot be read or has a mistake; the message names it
     */
    EndpointSource create(Place place, SourceContext context) throws IOException;

    /** Says of a source that works why it has no endpoints, such as "has an empty list". */
    String emptiness();
}
