package dev.gateway.pool;

import dev.gateway.net.dns.Resolver;
import dev.gateway.time.Timer;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.util.List;
import java.util.function.Predicate;

/**
 * Resolves the name of a pool's host again whenever its TTL is over, as long as there are connections to it. A connection
 * to an address that the host no longer has takes no new requests. If DNS fails, all connections stay. Part of the pool,
 * confined to its event loop.
 */
final class AddressWatch extends Timer {
    private final LoopResources resources;
    private final Owner owner;
    private final String host;
    private final boolean exact;
    private final boolean named;
    private boolean asking;

    /** The connections to the host. */
    interface Owner {
        boolean isEmpty();

        /**
         * The addresses may have changed.
         *
         * @param former tells whether the host has lost an address
         */
        void onAddresses(Predicate<InetAddress> former);
    }

    AddressWatch(LoopResources resources, DialTarget target, Owner owner) {
        this.resources = resources;
        this.owner = owner;
        this.host = target.host();
        this.exact = target.isRequested();
        this.named = !target.isSocketFile() && Resolver.literal(host) == null;
    }

    /** The pool has a connection: begins to watch. */
    void begin() {
        if (named && !asking && !isArmed()) {
            resources.wheel.arm(this, resources.resolver.holdsMillis(host, exact));
        }
    }

    @Override
    protected void onExpired() {
        if (owner.isEmpty()) {
            return;
        }
        asking = true;
        Resolver resolver = resources.resolver;
        Resolver.Answers answers =
                exact ? resolver.resolveExactly(resources.loop, host) : resolver.resolve(resources.loop, host);
        answers.ipv6().addListener((Future<List<InetAddress>> ipv6) -> answers.ipv4()
                .addListener((Future<List<InetAddress>> ipv4) -> onAnswered(resolver)));
    }

    private void onAnswered(Resolver resolver) {
        asking = false;
        owner.onAddresses(address -> resolver.isFormer(host, exact, address));
        if (!owner.isEmpty()) {
            begin();
        }
    }
}
