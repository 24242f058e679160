package dev.gateway.tunnel;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;

/**
 * Self-connection check. Where this gateway listens, the admin listener included: tunnels to it would go in circles, or
 * reach what only this machine may. Gets the addresses from the code that binds them; asked by any event loop.
 */
public final class OwnListeners {
    private final LocalAddresses local;
    private volatile List<InetSocketAddress> bound = List.of();

    /** Makes it, listening nowhere yet. */
    public OwnListeners(LocalAddresses local) {
        this.local = local;
    }

    /** Says where it listens now, whatever was said before. */
    public void set(Collection<InetSocketAddress> addresses) {
        bound = List.copyOf(addresses);
    }

    boolean contains(InetAddress address, int port) {
        List<InetSocketAddress> all = bound;
        for (int i = 0; i < all.size(); i++) {
            InetSocketAddress listener = all.get(i);
            if (listener.getPort() == port && leadsTo(listener.getAddress(), address)) {
                return true;
            }
        }
        return false;
    }

    private boolean leadsTo(InetAddress listener, InetAddress address) {
        if (listener.isAnyLocalAddress()) {
            return local.contains(address);
        }
        return listener.equals(address) || (address.isAnyLocalAddress() && listener.isLoopbackAddress());
    }
}
