package dev.gateway.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Self-connection check. Where this gateway listens, the admin listener included: tunnels to it would go in circles, or
 * reach what only this machine may. Gets the addresses from the code that binds them; asked by any event loop.
 */
public final class OwnListeners {
    private final LocalAddresses local;
    private volatile List<InetSocketAddress> bound = List.of();
    private volatile List<SocketPlace> files = List.of();
    private volatile List<InetSocketAddress> admin = List.of();
    private volatile List<SocketPlace> adminFiles = List.of();

    /** Makes it, listening nowhere yet. */
    public OwnListeners(LocalAddresses local) {
        this.local = local;
    }

    /** Says where it listens now, whatever was said before. */
    public void set(Collection<InetSocketAddress> addresses) {
        bound = List.copyOf(addresses);
    }

    /** Says at which Unix-domain sockets it listens now, whatever was said before. The files are there already. */
    public void setFiles(Collection<Path> sockets) {
        files = sockets.stream().map(SocketPlace::of).toList();
    }

    /**
     * Says where the admin listener is among them.
     *
     * @param address null if it is not bound to a port
     * @param file the socket file that it is bound to instead, or null
     */
    public void setAdmin(@Nullable InetSocketAddress address, @Nullable Path file) {
        admin = address == null ? List.of() : List.of(address);
        adminFiles = file == null ? List.of() : List.of(SocketPlace.of(file));
    }

    boolean contains(InetAddress address, int port) {
        return contains(bound, address, port);
    }

    boolean contains(Path file) {
        return contains(files, file);
    }

    /** Whether an address leads to the admin listener, also by an IPv4 address inside of it. */
    boolean isAdmin(InetAddress address, int port) {
        List<InetSocketAddress> pages = admin;
        if (pages.isEmpty() || pages.get(0).getPort() != port) {
            return false;
        }
        return contains(pages, address, port)
                || SpecialAddresses.embedded(address).stream().anyMatch(inside -> contains(pages, inside, port));
    }

    boolean isAdmin(Path file) {
        return contains(adminFiles, file);
    }

    private static boolean contains(List<SocketPlace> all, Path file) {
        return !all.isEmpty() && all.stream().anyMatch(SocketPlace.of(file)::isSame);
    }

    private boolean contains(List<InetSocketAddress> all, InetAddress address, int port) {
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
