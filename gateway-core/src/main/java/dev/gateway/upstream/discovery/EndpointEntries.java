package dev.gateway.upstream.discovery;

import dev.gateway.config.EndpointConfig;
import dev.gateway.config.EndpointConfig.Dns;
import dev.gateway.config.EndpointConfig.File;
import dev.gateway.config.EndpointConfig.Host;
import dev.gateway.config.EndpointConfig.Place;
import dev.gateway.config.EndpointConfig.Srv;
import dev.gateway.config.EndpointConfig.Unix;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointSpec;
import org.jspecify.annotations.Nullable;

/** Endpoint entries: which kind of source an entry has, its name on pages, and its endpoint before the first answer. */
public final class EndpointEntries {
    private EndpointEntries() {}

    /** Returns the kind of the source of an entry, null if the entry is an address and needs none. */
    public static @Nullable String kind(Place place) {
        if (place.isAddress()) {
            return null;
        }
        return place instanceof Srv ? "srv" : place instanceof File ? "file" : "dns";
    }

    /** Returns the source of an entry, as pages show it. */
    public static String source(Place place) {
        String kind = kind(place);
        return kind == null ? EndpointSpec.STATIC : kind + ":" + subject(place);
    }

    private static String subject(Place place) {
        if (place instanceof Host host) {
            return host.name();
        } else if (place instanceof Dns dns) {
            return dns.name();
        } else if (place instanceof Srv srv) {
            return srv.name();
        }
        return place instanceof File file
                ? file.path().toString()
                : ((Unix) place).path().toString();
    }

    /** Returns the endpoint that an entry has before its source answers; null for SRV records and files, which have none. */
    public static @Nullable EndpointSpec spec(EndpointConfig entry) {
        Place place = entry.place();
        if (place instanceof Srv || place instanceof File) {
            return null;
        }
        String host = place instanceof Unix ? "unix:" + subject(place) : subject(place);
        return new EndpointSpec(host, port(place), entry.weight(), host, entry.zone(), source(place));
    }

    private static int port(Place place) {
        return place instanceof Host host ? host.port() : place instanceof Dns dns ? dns.port() : 0;
    }

    /** Returns an entry as pages show it: {@code host:port}, or the source of its endpoints. */
    public static String shown(EndpointConfig entry) {
        EndpointSpec spec = spec(entry);
        return spec == null
                ? source(entry.place())
                : new Endpoint(0, spec.host(), spec.port(), entry.weight()).toString();
    }
}
