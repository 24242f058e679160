package dev.gateway.upstream.discovery;

import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.EndpointConfig.Host;
import dev.gateway.config.upstream.EndpointConfig.Place;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointSpec;
import org.jspecify.annotations.Nullable;

/** Endpoint entries: which kind of source an entry has, its name on pages, and its endpoint before the first answer. */
public final class EndpointEntries {
    private EndpointEntries() {}

    /** Returns the kind of the source of an entry, null if the entry is an address and needs none. */
    public static @Nullable String kind(Place place) {
        return place.isAddress() ? null : place instanceof Host ? DnsSource.KEY : place.key();
    }

    /** Returns the source of an entry, as pages show it. */
    public static String source(Place place) {
        String kind = kind(place);
        return kind == null ? EndpointSpec.STATIC : kind + ":" + place.subject();
    }

    /** Returns the endpoint that an entry has before its source answers, null if it has none. */
    public static @Nullable EndpointSpec spec(EndpointConfig entry) {
        Place place = entry.place();
        String host = place.host();
        return host == null
                ? null
                : new EndpointSpec(host, place.port(), entry.weight(), host, entry.zone(), source(place));
    }

    /** Returns an entry as pages show it: {@code host:port}, or the source of its endpoints. */
    public static String shown(EndpointConfig entry) {
        EndpointSpec spec = spec(entry);
        return spec == null
                ? source(entry.place())
                : new Endpoint(0, spec.host(), spec.port(), entry.weight()).toString();
    }
}
