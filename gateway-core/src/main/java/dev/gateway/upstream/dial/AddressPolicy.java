package dev.gateway.upstream.dial;

import java.net.InetAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Address policy. Decides about each address just before the gateway connects to it. It gets the resolved address, so that
 * a DNS server cannot change what the name means in between. Immutable or safe from any event loop.
 */
public interface AddressPolicy {
    /**
     * Returns why the gateway must not connect to this address, as text for people, or null if it may.
     *
     * @param host what the request named: a name, or an IP literal without brackets
     */
    @Nullable
    String refuse(String host, InetAddress address, int port);

    /**
     * Returns why another proxy must not be asked to connect to this name, which that proxy will resolve; null if it may.
     *
     * @param name not an IP literal
     */
    default @Nullable String refuseName(String name, int port) {
        return null;
    }

    /** Whether this gateway itself listens at this address. */
    default boolean isOwn(InetAddress address, int port) {
        return false;
    }

    /** Whether this gateway itself listens at this Unix-domain socket. */
    default boolean isOwn(Path file) {
        return false;
    }

    /** Returns why the gateway must not connect to this Unix-domain socket, as text for people, or null if it may. */
    default @Nullable String refuseFile(Path file) {
        return null;
    }
}
