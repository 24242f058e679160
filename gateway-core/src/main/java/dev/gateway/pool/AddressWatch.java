package dev.gateway.pool;

import dev.gateway.net.dns.Resolver;
import dev.gateway.time.Timer;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.util.List;

/**
 * Asks for the addresses of a pool's host again and again, as long as there are connections to it. A connection to an
 * address that the host no longer has takes no further request. DNS must have said so: while it fails, all are kept. Part
 * of the pool, confined to its event loop.
 */
final class AddressWatch extends Timer {
    private final EndpointPool pool;
    private final KeptConnections kept;
    private final String host;
    private final boolean exact;
    private final boolean named;
    private boolean asking;

    AddressWatch(EndpointPool pool, KeptConnections kept) {
        this.pool = pool;
        this.kept = kept;
        this.host = pool.endpoint.target.host();
        this.exact = pool.endpoint.target.isRequested();
        this.named = !pool.endpoint.target.isSocketFile() && Resolver.literal(host) == null;
    }

    /** There is a connection. */
    void begin() {
        if (named && !asking && !isArmed()) {
            pool.endpoint.resources.wheel.arm(this, pool.endpoint.resources.resolver.holdsMillis(host, exact));
        }
    }

    @Override
    protected void onExpired() {
        if (kept.isEmpty()) {
            return;
        }
        asking = true;
        Resolver resolver = pool.endpoint.resources.resolver;
        Resolver.Answers answers = exact
                ? resolver.resolveExactly(pool.endpoint.resources.loop, host)
                : resolver.resolve(pool.endpoint.resources.loop, host);
        answers.ipv6().addListener((Future<List<InetAddress>> ipv6) -> answers.ipv4()
                .addListener((Future<List<InetAddress>> ipv4) -> onAnswered(resolver)));
    }

    private void onAnswered(Resolver resolver) {
        asking = false;
        if (!pool.isClosed()) {
            kept.retireTo(address -> resolver.isFormer(host, exact, address));
        }
        if (!kept.isEmpty()) {
            begin();
        }
    }
}
