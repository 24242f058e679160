package dev.gateway.filter.ratelimit.redis;

import dev.gateway.config.StoreConfig;
import dev.gateway.net.dns.Resolver;
import dev.gateway.net.tls.ClientTls;
import dev.gateway.net.transport.Transport;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ConnectionBuilder;
import io.lettuce.core.ConnectionEvents;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisAsyncCommandsImpl;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisReactiveCommandsImpl;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.PushHandler;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Connects to Redis by Lettuce, on the gateway's event loops, with its sockets, names and TLS. Lettuce does not connect
 * again by itself. Shared by event loops.
 */
final class LettuceConnector implements RedisConnector {
    private static final long CONNECT_MILLIS = 2_000;
    private static final ClientOptions OPTIONS = ClientOptions.builder()
            .autoReconnect(false)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .timeoutOptions(TimeoutOptions.create())
            .maintNotificationsConfig(MaintNotificationsConfig.disabled())
            .build();

    private final StoreConfig.Redis settings;
    private final Supplier<@Nullable String> currentPassword;
    private final Transport transport;
    private final Resolver resolver;
    private final @Nullable ClientTls tls;

    LettuceConnector(
            StoreConfig.Redis settings,
            Supplier<@Nullable String> currentPassword,
            Transport transport,
            Resolver resolver,
            @Nullable ClientTls tls) {
        this.settings = settings;
        this.currentPassword = currentPassword;
        this.transport = transport;
        this.resolver = resolver;
        this.tls = tls;
    }

    @Override
    public Attempt connect(EventLoop loop, Listener listener) {
        Making making = new Making(loop, listener);
        making.begin();
        return making;
    }

    /** Looks up the name, and tries one address after the other. Ends in one call of its listener, or in a connection. */
    private final class Making implements Attempt, NettyCustomizer {
        private final EventLoop loop;
        private final Listener listener;
        private final Deque<InetAddress> addresses = new ArrayDeque<>();
        private final Set<String> reasons = new LinkedHashSet<>(); // of all addresses: the first may be the telling one
        private @Nullable Channel channel; // of the last address
        private boolean connected;
        private boolean closed;

        Making(EventLoop loop, Listener listener) {
            this.loop = loop;
            this.listener = listener;
        }

        void begin() {
            Resolver.Answers answers = resolver.resolve(loop, settings.host());
            answers.ipv4().addListener((Future<List<InetAddress>> ipv4) -> answers.ipv6()
                    .addListener((Future<List<InetAddress>> ipv6) -> onResolved(ipv4, ipv6)));
        }

        @Override
        public void cancel() {
            closed = true;
            if (channel != null) {
                channel.close();
            }
        }

        private void onResolved(Future<List<InetAddress>> ipv4, Future<List<InetAddress>> ipv6) {
            if (closed) {
                return;
            }
            if (ipv4.isSuccess()) {
                addresses.addAll(ipv4.getNow());
            }
            if (ipv6.isSuccess()) {
                addresses.addAll(ipv6.getNow());
            }
            if (addresses.isEmpty()) {
                Throwable cause = ipv4.cause() != null ? ipv4.cause() : ipv6.cause();
                onClosed(cause == null ? settings.host() + " has no address" : String.valueOf(cause.getMessage()));
            } else {
                tryNext();
            }
        }

        private void tryNext() {
            InetSocketAddress address = new InetSocketAddress(addresses.remove(), settings.port());
            try {
                new Client(new LettuceResources(loop, this), uri(), address, loop)
                        .open()
                        .whenComplete((connection, failure) -> {
                            if (failure == null) {
                                onConnected(connection);
                            } else {
                                onFailed(failure);
                            }
                        });
            } catch (RuntimeException e) { // such as that no file descriptor is left
                onFailed(e);
            }
        }

        private void onFailed(Throwable failure) {
            if (closed) {
                return;
            }
            reasons.add(reason(failure));
            if (addresses.isEmpty()) {
                doubtAddresses();
                onClosed(String.join("; ", reasons));
            } else {
                tryNext();
            }
        }

        /** The store may have another address by now. */
        private void doubtAddresses() {
            resolver.doubt(loop, settings.host(), false);
        }

        private RedisURI uri() {
            RedisURI uri = RedisURI.Builder.redis(settings.host(), settings.port())
                    .withDatabase(settings.database())
                    .withTimeout(Duration.ofMillis(CONNECT_MILLIS))
                    .build();
            String password = currentPassword.get();
            if (password != null && settings.user() != null) {
                uri.setAuthentication(settings.user(), password);
            } else if (password != null) {
                uri.setAuthentication(password);
            }
            return uri;
        }

        /** Called for each channel when Lettuce's handlers are there. */
        @Override
        public void afterChannelInitialized(Channel opened) {
            if (closed) { // without TLS: the store may have freed it
                opened.close();
                return;
            }
            channel = opened;
            if (tls != null) {
                opened.pipeline()
                        .addFirst(
                                tls.newHandler(opened.alloc(), settings.host(), settings.port(), ClientTls.Alpn.NONE));
            }
            opened.closeFuture().addListener(ended -> {
                if (connected && !closed) {
                    doubtAddresses();
                    onClosed("the connection was closed");
                }
            });
        }

        private void onConnected(StatefulRedisConnection<byte[], byte[]> connection) {
            if (closed) { // cancelled just before
                connection.closeAsync();
                return;
            }
            connected = true;
            listener.onConnected(new LettuceLink(connection, loop));
        }

        private void onClosed(String reason) {
            if (!closed) {
                closed = true;
                listener.onClosed(reason);
            }
        }
    }

    /** Returns the innermost reason: those around it say that there is no connection. */
    private static String reason(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null
                && (cause instanceof CompletionException
                        || cause instanceof RedisException
                        || cause instanceof SSLException)) {
            cause = cause.getCause();
        }
        String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }

    /** Lettuce's client of one connection. */
    private final class Client extends RedisClient {
        private final RedisURI uri;
        private final InetSocketAddress address;
        private final EventLoop loop;

        Client(ClientResources resources, RedisURI uri, InetSocketAddress address, EventLoop loop) {
            super(resources, uri);
            this.uri = uri;
            this.address = address;
            this.loop = loop;
            setOptions(OPTIONS);
        }

        CompletionStage<StatefulRedisConnection<byte[], byte[]>> open() {
            return connectAsync(ByteArrayCodec.INSTANCE, uri);
        }

        @Override
        protected Mono<SocketAddress> getSocketAddress(RedisURI any) {
            return Mono.just(address);
        }

        /** A socket of the gateway's transport. */
        @Override
        protected void connectionBuilder(
                Mono<SocketAddress> supplier, ConnectionBuilder builder, ConnectionEvents events, RedisURI any) {
            builder.bootstrap(
                    transport.client(loop, address, CONNECT_MILLIS).option(ChannelOption.ALLOW_HALF_CLOSURE, false));
            builder.apply(any);
            builder.channelGroup(channels).connectionEvents(events).socketAddressSupplier(supplier);
        }

        @Override
        protected <K, V> StatefulRedisConnectionImpl<K, V> newStatefulRedisConnection(
                RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
            return new Dispatcher<>(writer, pushes, codec, timeout);
        }
    }

    /** A connection without methods for the hundreds of commands of Redis: the gateway sends its own. */
    private static final class Dispatcher<K, V> extends StatefulRedisConnectionImpl<K, V> {
        Dispatcher(RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
            super(writer, pushes, codec, timeout);
        }

        @Override
        protected @Nullable RedisAsyncCommandsImpl<K, V> newRedisAsyncCommandsImpl() {
            return null;
        }

        @Override
        protected @Nullable RedisCommands<K, V> newRedisSyncCommandsImpl() {
            return null;
        }

        @Override
        protected @Nullable RedisReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
            return null;
        }
    }
}
