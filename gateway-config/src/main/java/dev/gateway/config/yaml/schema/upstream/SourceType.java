package dev.gateway.config.yaml.schema.upstream;

import dev.gateway.config.upstream.EndpointConfig.Place;
import dev.gateway.config.yaml.type.Type;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Source type: what the configuration file knows of one kind of endpoint source.
 *
 * @param key the key of an entry that has such a source
 * @param value what is written there
 * @param hasPort whether the entry must have a port, too; others cannot have one
 * @param text what the key is, for documents
 * @param place the class of such sources
 * @param getter returns what is written
 * @param maker makes a source of what is written, and of its port or 0
 */
public record SourceType<V, P extends Place>(
        String key,
        Type<V> value,
        boolean hasPort,
        String text,
        Class<P> place,
        Function<P, V> getter,
        Maker<V, P> maker) {

    /** Makes a source. */
    public interface Maker<V, P extends Place> {
        P of(V written, int port);
    }

    @Nullable
    V written(Place other) {
        return place.isInstance(other) ? getter.apply(place.cast(other)) : null;
    }
}
