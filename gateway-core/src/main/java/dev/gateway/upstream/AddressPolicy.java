package dev.gateway.upstream;

import java.net.InetAddress;
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
}
