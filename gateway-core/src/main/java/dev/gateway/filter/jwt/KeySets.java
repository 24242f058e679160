package dev.gateway.filter.jwt;

import dev.gateway.config.value.Position;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.auth.AuthWork;
import dev.gateway.filter.jwt.jwks.KeyClient;
import dev.gateway.filter.jwt.jwks.KeyLocation;
import dev.gateway.filter.jwt.jwks.RemoteKeys;
import dev.gateway.observe.metrics.Exposition;
import dev.gateway.upstream.SourceStatus;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UrlUpstream;
import io.netty.util.AsciiString;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sets of keys that are fetched: one for each URL, shared by all filters and generations that have it, and an upstream for each
 * server. They end when no filter of the active generation uses them.
 */
public final class KeySets {
    private static final long STEP_MILLIS = 5_000; // of a connection; the fetch as a whole takes no longer
    private static final long IDLE_MILLIS = 1_000; // the next fetch comes much later

    private KeySets() {}

    /** Key of a set. */
    private record Key(String url, @Nullable Path caFile) implements FilterStates.CountedKey<Fetched> {
        @Override
        public Class<Fetched> kind() {
            return Fetched.class;
        }

        @Override
        public void addTo(Exposition out, Fetched fetched) {
            fetches(out, "success", fetched.keys.succeeded());
            fetches(out, "failure", fetched.keys.failed());
            long ageNanos = fetched.keys.status().ageNanos();
            if (ageNanos >= 0) {
                out.gauge(
                        "gateway_jwks_age_seconds",
                        "Time since the last fetch that brought the keys of a token issuer.",
                        TimeUnit.NANOSECONDS.toMillis(ageNanos) / 1000.0,
                        "url",
                        url);
            }
        }

        private void fetches(Exposition out, String result, long count) {
            out.counter(
                    "gateway_jwks_fetches",
                    "Fetches of the keys of token issuers.",
                    count,
                    "url",
                    url,
                    "result",
                    result);
        }
    }

    /** Key of the upstream of a server. */
    private record Server(String origin, @Nullable Path caFile) {}

    /**
     * A set, as pages show it.
     *
     * @param at its place in the configuration
     * @param keys how many there are
     */
    public record View(String url, String upstream, String at, int keys, SourceStatus status) {}

    /** A set, and which provider has it. */
    private static final class Fetched implements FilterStates.Watched, FilterStates.Running {
        private final RemoteKeys keys;
        private volatile Position at;

        Fetched(RemoteKeys keys, Position at) {
            this.keys = keys;
            this.at = at;
        }

        void use(Position now) {
            at = now;
            keys.start();
        }

        @Override
        public void look() {}

        @Override
        public List<String> problems() {
            SourceStatus status = keys.status();
            return status.isStale()
                    ? List.of(at + ": JWT: cannot fetch the keys of "
                            + keys.location().url() + ": " + status.problem())
                    : List.of();
        }

        @Override
        public void end() {
            keys.close();
        }

        View view() {
            KeyLocation location = keys.location();
            return new View(
                    location.url(),
                    location.upstream().name(),
                    at.toString(),
                    keys.get().size(),
                    keys.status());
        }
    }

    /** Returns the keys of a provider that has a URL; they are fetched once the generation comes into force. */
    static RemoteKeys of(JwtConfig.Provider provider, FilterSite site) throws StartException {
        String url = Objects.requireNonNull(provider.jwksUrl());
        Key key = new Key(url, provider.caFile());
        URI parsed = URI.create(url);
        Server server = new Server(provider.origin(), provider.caFile());
        Upstream upstream = site.states()
                .get(
                        server,
                        Upstream.class,
                        () -> UrlUpstream.of(
                                "jwks:" + server.origin,
                                parsed,
                                server.caFile,
                                new UrlUpstream.Times(STEP_MILLIS, IDLE_MILLIS)));
        Fetched fetched = site.states()
                .get(
                        key,
                        () -> new Fetched(
                                site.services()
                                        .get(KeyClient.class)
                                        .keys(
                                                new KeyLocation(url, upstream, path(parsed)),
                                                AuthWork.of(site.services()).files()),
                                provider.position()));
        site.states().onUse(key, () -> fetched.use(provider.position()));
        return fetched.keys;
    }

    private static AsciiString path(URI url) {
        String path = url.getRawPath().isEmpty() ? "/" : url.getRawPath();
        return new AsciiString(url.getRawQuery() == null ? path : path + "?" + url.getRawQuery());
    }

    /** Shows all sets of the active generation. Any thread may ask. */
    public static void forEach(FilterStates states, Consumer<View> reader) {
        states.forEach(Fetched.class, (key, fetched) -> reader.accept(fetched.view()));
    }

    /** Shows the sets that come from an upstream. Any thread may ask. */
    public static List<View> from(String upstream, FilterStates states) {
        List<View> found = new ArrayList<>();
        forEach(states, view -> {
            if (view.upstream.equals(upstream)) {
                found.add(view);
            }
        });
        return found;
    }
}
