package dev.gateway.upstream.discovery;

import dev.gateway.config.upstream.EndpointConfig.Host;
import dev.gateway.config.upstream.EndpointConfig.Place;
import dev.gateway.net.dns.Resolver;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Makes sources of endpoints. */
public final class EndpointSources {
    private final Map<String, SourceFeature> features;
    private final SourceContext context;

    /**
     * Makes it.
     *
     * @param features all kinds
     * @param loop the event loop of all DNS queries
     * @param thread the reload thread, which reads files
     */
    public EndpointSources(
            List<SourceFeature> features, Resolver resolver, EventLoop loop, ScheduledExecutorService thread) {
        this(features, DnsQuestions.of(resolver, loop), loop, thread);
    }

    EndpointSources(List<SourceFeature> features, DnsQuestions dns, EventLoop loop, ScheduledExecutorService thread) {
        this.features = features.stream()
                .collect(Collectors.toUnmodifiableMap(each -> each.type().key(), Function.identity()));
        this.context = new SourceContext(dns, loop, thread, this::ofName);
    }

    /**
     * Returns a source that has not started.
     *
     * @param place the place of an entry that needs a source
     * @throws IOException if its file cannot be read or has a mistake; the message has its name
     */
    EndpointSource of(Place place) throws IOException {
        return place instanceof Host host
                ? DnsSource.of(host, context)
                : feature(place).create(place, context);
    }

    private EndpointSource ofName(Place place) {
        try {
            return of(place);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // what a file of endpoints may have reads no file
        }
    }

    private SourceFeature feature(Place place) {
        return Objects.requireNonNull(features.get(place.key()), place::key);
    }

    /** Says why a source that works has no endpoints. */
    String emptiness(Place place) {
        return place instanceof Host ? DnsSource.NO_ADDRESSES : feature(place).emptiness();
    }
}
