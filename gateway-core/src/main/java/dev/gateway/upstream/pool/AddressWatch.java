package dev.gateway.upstream.pool;

import dev.gateway.net.dns.Resolver;
import dev.gateway.overload.memory.Account;
import dev.gateway.time.Timer;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the name of a pool's host again whenever its TTL is over, as long as there are connections to it, and when the
 * host has closed its connections. A connection to an address that the host no longer has takes no new requests. If DNS
 * fails, all connections stay. Part of the pool, confined to its event loop.
 *
 * <p>It decides which connections of an endpoint are in use. Which endpoints there are decides {@code DnsSource}.
 */
final class AddressWatch extends Timer {
    private final LoopResources resources;
    private final KeptConnections connections;
    private final String host;
    private final boolean exact;
    private final boolean named;
    private boolean asking;
    private @Nullable Runnable unfollow;

    AddressWatch(LoopResources resources, DialTarget target, KeptConnections connections) {
        this.resources = resources;
        this.connections = connections;
        this.host = target.host();
        this.exact = target.isRequested();
        this.named = !target.isSocketFile() && Resolver.literal(host) == null;
    }

    /** The pool has a connection: begins to watch. */
    void begin() {
        if (named && !asking && !isArmed()) {
            resources.wheel.arm(this, resources.resolver.holdsMillis(host, exact));
        }
        if (named && unfollow == null) {
            unfollow = resources.resolver.follow(resources.loop, host, exact, this::onRenewed);
        }
    }

    /** Ends. */
    void end() {
        cancel();
        if (unfollow != null) {
            unfollow.run();
            unfollow = null;
        }
    }

    /** The peer has closed the last connection that was kept: the host may have another address from now on. */
    void onAllClosed(InetAddress address) {
        if (named) {
            resources.resolver.doubt(resources.loop, host, exact);
        } else if (!exact) {
            resources.resolver.doubt(resources.loop, address);
        }
    }

    private void onRenewed() {
        if (unfollow != null && !asking) {
            ask();
        }
    }

    @Override
    protected void onExpired() {
        if (connections.isEmpty()) {
            end();
        } else {
            ask();
        }
    }

    private void ask() {
        asking = true;
        Resolver resolver = resources.resolver;
        Resolver.Answers answers = exact
                ? resolver.resolveExactly(resources.loop, host, Account.UNLIMITED)
                : resolver.resolve(resources.loop, host);
        answers.ipv6().addListener((Future<List<InetAddress>> ipv6) -> answers.ipv4()
                .addListener((Future<List<InetAddress>> ipv4) -> onAnswered(resolver)));
    }

    private void onAnswered(Resolver resolver) {
        asking = false;
        connections.onAddresses(address -> resolver.isFormer(host, exact, address));
        if (connections.isEmpty()) {
            end();
        } else {
            begin();
        }
    }
}
