package dev.gateway;

import dev.gateway.exchange.ExchangeSettings;
import dev.gateway.message.ForwardedFields;
import dev.gateway.route.Router;
import dev.gateway.stream.CidrSet;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.HttpVersion;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.util.List;

/**
 * One generation: what a configuration has become. Exchanges keep the one they began with. Immutable but for what its
 * upstreams count; shared by all event loops.
 *
 * @param generation 1 for the first
 * @param listeners what exchanges need of each listener, by its index
 * @param upstreams all of them, in the order of the configuration
 */
record Snapshot(int generation, List<ListenerPolicy> listeners, List<Upstream> upstreams) implements ExchangeSettings {
    private static final AsciiString NAME = new AsciiString("gateway");
    private static final AsciiString VIA_HTTP_1_0 = new AsciiString("1.0 gateway");
    private static final AsciiString VIA_HTTP_1_1 = new AsciiString("1.1 gateway");
    private static final AsciiString VIA_HTTP_2 = new AsciiString("2.0 gateway");

    /**
     * What exchanges need of a listener.
     *
     * @param trustedProxies the peers whose word about their clients is believed
     * @param forwarded what upstreams are told of clients
     * @param maxBodyBytes of a request, 0 for no limit
     */
    record ListenerPolicy(Router router, CidrSet trustedProxies, ForwardedFields forwarded, long maxBodyBytes) {}

    Snapshot {
        listeners = List.copyOf(listeners);
        upstreams = List.copyOf(upstreams);
    }

    @Override
    public Router router(int listener) {
        return listeners.get(listener).router;
    }

    @Override
    public boolean trusts(ConnectionInfo connection) {
        CidrSet trusted = listeners.get(connection.listener()).trustedProxies;
        return connection.peer() != null
                && !trusted.isEmpty()
                && trusted.contains(connection.peer().getAddress());
    }

    @Override
    public ForwardedFields forwarded(int listener) {
        return listeners.get(listener).forwarded;
    }

    @Override
    public AsciiString name() {
        return NAME;
    }

    @Override
    public AsciiString via(HttpVersion version) {
        return switch (version) {
            case HTTP_1_0 -> VIA_HTTP_1_0;
            case HTTP_1_1 -> VIA_HTTP_1_1;
            case HTTP_2 -> VIA_HTTP_2;
        };
    }

    @Override
    public AsciiString server() {
        return NAME;
    }

    @Override
    public long maxRequestBodyBytes(int listener) {
        return listeners.get(listener).maxBodyBytes;
    }
}
