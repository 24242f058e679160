package dev.gateway.pool;

import dev.gateway.net.dns.Resolver;
import dev.gateway.time.Timer;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.util.List;
import java.util.function.Predicate;

/**
 * Asks for the addresses of a pool's host again and again, as long as there are connections to it. A connection to an
 * address that the host no longer has takes no further request. DNS must have said so: while it fails, all are kept. Part
 * of the pool, confined to its event loop.
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
         * @param former whether the host no longer has an address
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

    /** There is a connection. */
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
