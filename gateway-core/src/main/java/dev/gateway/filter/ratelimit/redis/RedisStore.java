package dev.gateway.filter.ratelimit.redis;

import dev.gateway.config.StoreConfig;
import dev.gateway.filter.ratelimit.StoreClient;
import dev.gateway.net.dns.Resolver;
import dev.gateway.net.tls.ClientTls;
import dev.gateway.net.transport.Transport;
import dev.gateway.observe.counts.Histogram;
import io.netty.channel.EventLoop;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Redis as a store of limits: the connections of all event loops to one server. Safe from any thread. */
public final class RedisStore implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RedisStore.class);

    private final StoreConfig config;
    private final Resolver resolver;
    private final @Nullable ClientTls tls;
    private final Map<Executor, RedisLoop> loops = new LinkedHashMap<>(); // only read, once it is made
    private final Health health = new Health();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final CompletableFuture<Void> firstAnswer = new CompletableFuture<>();

    /** Whether the store answers, as all event loops see it together. The log has changes only. */
    private final class Health {
        private final Set<EventLoop> up = new HashSet<>();
        private final Set<EventLoop> down = new HashSet<>();
        private boolean hasKeyError;

        LoopHealth of(EventLoop loop) {
            return new LoopHealth() {
                @Override
                public void onUp() {
                    Health.this.onUp(loop);
                }

                @Override
                public void onKeyError(String key, String error) {
                    Health.this.onKeyError(key, error);
                }

                @Override
                public void onDown(String reason) {
                    Health.this.onDown(loop, reason);
                }
            };
        }

        private synchronized void onUp(EventLoop loop) {
            boolean first = up.isEmpty() && down.isEmpty();
            boolean back = down.remove(loop) && down.isEmpty();
            up.add(loop);
            tellFirst();
            if (first || back) {
                log.info("Store {} answers: {}", config.name(), config.redis());
            }
        }

        /** Tells the log of the first one: there may be one for each request. */
        private synchronized void onKeyError(String key, String error) {
            if (!hasKeyError) {
                hasKeyError = true;
                log.warn("Store {} cannot count by {}: {}", config.name(), key, error);
            }
        }

        private synchronized void onDown(EventLoop loop, String reason) {
            up.remove(loop);
            boolean first = down.isEmpty();
            if (down.add(loop) && first) {
                log.warn("Store {} does not answer: {}: {}", config.name(), config.redis(), reason);
            }
            tellFirst();
        }

        private void tellFirst() {
            if (up.size() + down.size() == loops.size()) {
                firstAnswer.complete(null);
            }
        }

        synchronized boolean isUp() {
            return down.isEmpty() && !up.isEmpty();
        }
    }

    /**
     * Makes one that is not connected.
     *
     * @param password returns the current one, null for none; asked on event loops for each connection
     * @param tls how it is secured, null for not at all; closed with the store
     * @throws NoClassDefFoundError if there is no Lettuce
     */
    public RedisStore(
            StoreConfig config,
            Supplier<@Nullable String> password,
            Transport transport,
            Resolver resolver,
            @Nullable ClientTls tls) {
        this.config = config;
        this.resolver = resolver;
        this.tls = tls;
        RedisConnector connector = new LettuceConnector(config.redis(), password, transport, resolver, tls);
        for (EventLoop loop : transport.loops()) {
            loops.put(loop, new RedisLoop(loop, connector, health.of(loop), config, System::nanoTime));
        }
        resolver.keep(config.redis().host());
    }

    /** Returns the client of an event loop. */
    public StoreClient client(Executor loop) {
        RedisLoop client = loops.get(loop);
        if (client == null) {
            throw new IllegalArgumentException("no event loop of this gateway: " + loop);
        }
        return client;
    }

    /** Connects on all event loops. */
    public void start() {
        loops.forEach((loop, client) -> loop.execute(client::start));
    }

    /** Is completed when all event loops know whether it answers. */
    public CompletableFuture<Void> firstAnswer() {
        return firstAnswer;
    }

    /** Closes all connections. Questions asked afterwards get no answer. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            resolver.drop(config.redis().host());
            AtomicInteger open = new AtomicInteger(loops.size());
            loops.forEach((loop, client) -> loop.execute(() -> {
                client.close();
                if (open.decrementAndGet() == 0 && tls != null) { // not sooner: attempts use it
                    tls.close();
                }
            }));
        }
    }

    /** Whether it answers on all event loops that have asked. */
    public boolean isUp() {
        return health.isUp();
    }

    /** Returns how long answers took, for each event loop. */
    public List<Histogram> durations() {
        return loops.values().stream().map(RedisLoop::durations).toList();
    }

    @Override
    public String toString() {
        return "store " + config.name() + ", " + config.redis();
    }
}
