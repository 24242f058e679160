package dev.gateway.filter.ratelimit.redis;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.StoreConfig;
import dev.gateway.config.file.PasswordFile;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.files.InputFile;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterFile;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.ratelimit.LimitStore;
import dev.gateway.filter.ratelimit.StoreKey;
import dev.gateway.net.dns.Resolver;
import dev.gateway.net.tls.ClientTls;
import dev.gateway.net.transport.Transport;
import dev.gateway.observe.metrics.Exposition;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Makes stores of limits. Their connections outlive generations as long as the configuration says the same of them. */
public final class StoreAssembly {
    private static final int MOST_CA_BYTES = 1 << 20;
    private static final long HANDSHAKE_MILLIS = 2_000;

    private final Transport transport;
    private final Resolver resolver;
    private final FilterStates.Prepared states;
    private final List<RedisStore> used = new ArrayList<>();
    private final List<RedisStore> made = new ArrayList<>();
    private final long startNanos = System.nanoTime();

    private StoreAssembly(Transport transport, Resolver resolver, FilterStates.Prepared states) {
        this.transport = transport;
        this.resolver = resolver;
        this.states = states;
    }

    /** Key of the password of a file. */
    private record Password(Path file) {}

    /**
     * Key of connections: all that they depend on.
     *
     * @param authorities the contents of the file
     */
    private record Server(
            String store,
            StoreConfig.Redis redis,
            @Nullable Path passwordFile,
            @Nullable String authorities,
            String keyPrefix,
            Duration timeout)
            implements FilterStates.CountedKey<RedisStore> {
        @Override
        public Class<RedisStore> kind() {
            return RedisStore.class;
        }

        @Override
        public void addTo(Exposition out, RedisStore server) {
            out.gauge(
                    "gateway_ratelimit_store_up",
                    "Whether a store of limits answers.",
                    server.isUp() ? 1 : 0,
                    "store",
                    store);
            server.durations()
                    .forEach(each -> out.histogram(
                            "gateway_ratelimit_store_duration_seconds",
                            "How long answers of a store of limits took.",
                            each,
                            "store",
                            store));
        }
    }

    /**
     * Makes the stores of a configuration. New ones begin to connect.
     *
     * @throws StartException if a file cannot be used, or the library is missing; then nothing is left of them
     */
    public static StoreAssembly prepare(
            GatewayConfig config, Transport transport, Resolver resolver, FilterStates.Prepared states)
            throws StartException {
        StoreAssembly stores = new StoreAssembly(transport, resolver, states);
        try {
            for (StoreConfig store : config.stores()) {
                stores.add(store);
            }
        } catch (StartException | RuntimeException | Error e) {
            stores.undo();
            throw e;
        }
        stores.made.forEach(RedisStore::start);
        return stores;
    }

    /** Returns what is completed when new stores have answered or cannot: requests shall find connections. */
    public List<CompletableFuture<Void>> firstAnswers() {
        return made.stream().map(RedisStore::firstAnswer).toList();
    }

    /** Returns the {@link System#nanoTime} when new stores began to connect. */
    public long startNanos() {
        return startNanos;
    }

    /** Returns the stores of the configuration, to be closed when nobody uses them any more. */
    public List<RedisStore> used() {
        return List.copyOf(used);
    }

    /** Closes what the active generation does not have. */
    public void undo() {
        made.forEach(RedisStore::close);
    }

    private void add(StoreConfig config) throws StartException {
        Server server = new Server(
                config.name(),
                config.redis(),
                config.passwordFile(),
                authorities(config),
                config.keyPrefix(),
                config.timeout());
        Supplier<@Nullable String> password = password(config); // of each generation, or the file is followed no more
        RedisStore redis = states.get(server, () -> make(config, password));
        used.add(redis);
        new StoreKey(config.name())
                .prepare(new LimitStore.Place(config.keyPrefix(), config.onError(), redis::client), states);
    }

    private static @Nullable String authorities(StoreConfig config) throws StartException {
        Path file = config.caFile();
        try {
            return file == null ? null : new String(InputFile.bytes(file, MOST_CA_BYTES), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw StartException.at(config.position(), e);
        }
    }

    private RedisStore make(StoreConfig config, Supplier<@Nullable String> password) throws StartException {
        ClientTls tls = config.redis().tls() ? tls(config) : null;
        try {
            RedisStore store = new RedisStore(config, password, transport, resolver, tls);
            made.add(store);
            return store;
        } catch (NoClassDefFoundError e) { // for programs that embed the gateway it is optional
            if (tls != null) {
                tls.close();
            }
            throw new StartException(
                    config.position()
                            + ": stores need the library Lettuce: add io.lettuce:lettuce-core to the class path",
                    e);
        }
    }

    private Supplier<@Nullable String> password(StoreConfig config) throws StartException {
        Path file = config.passwordFile();
        if (file == null) {
            String written = config.redis().password();
            return () -> written;
        }
        FilterFile.Use use = new FilterFile.Use(config.position(), "store " + config.name(), "password");
        return FilterFile.of(new Password(file), file, PasswordFile::read, use, states);
    }

    private static ClientTls tls(StoreConfig config) throws StartException {
        try {
            return new ClientTls(
                    UpstreamConfig.Tls.verified(config.position(), config.caFile()), List.of(), HANDSHAKE_MILLIS);
        } catch (IOException | GeneralSecurityException e) {
            throw StartException.at(config.position(), e);
        }
    }
}
