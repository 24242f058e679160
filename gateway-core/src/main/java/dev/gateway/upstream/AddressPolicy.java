package dev.gateway.upstream;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Address policy. Judges each address that is about to be dialed: after names are resolved, so that a name cannot be made
 * to mean something else in between. Immutable or safe from any event loop.
 */
public interface AddressPolicy {
    /**
     * Returns why this address must not be dialed, for people, or null if it may be.
     *
     * @param host what the request named: a name, or an IP literal without brackets
     */
    @Nullable
    String refuse(String host, InetAddress address, int port);
}
