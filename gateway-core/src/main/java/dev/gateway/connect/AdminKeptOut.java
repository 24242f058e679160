package dev.gateway.connect;

import dev.gateway.upstream.dial.AddressPolicy;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Address policy of upstreams: they may lead anywhere but to the admin listener of this gateway. Its pages are for this machine,
 * and clients of the gateway may be anybody. Other listeners of the gateway are allowed, and known as such. Shared by all event
 * loops.
 */
public final class AdminKeptOut implements AddressPolicy {
    private static final Logger log = LoggerFactory.getLogger(AdminKeptOut.class);
    private static final String REASON = "the admin listener of this gateway, which is no endpoint";
    private static final int MOST_TOLD = 1000;

    private final OwnListeners own;
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    /** Makes the policy. */
    public AdminKeptOut(OwnListeners own) {
        this.own = own;
    }

    @Override
    public @Nullable String refuse(String host, InetAddress address, int port) {
        return own.isAdmin(address, port) ? refused(host + ":" + port, address.getHostAddress()) : null;
    }

    @Override
    public @Nullable String refuseFile(Path file) {
        return own.isAdmin(file) ? refused("unix:" + file, file.toString()) : null;
    }

    @Override
    public boolean isOwn(InetAddress address, int port) {
        return own.contains(address, port);
    }

    @Override
    public boolean isOwn(Path file) {
        return own.contains(file);
    }

    private String refused(String endpoint, String place) {
        if (told.size() < MOST_TOLD && told.add(endpoint)) {
            log.warn("Endpoint {} gets no requests: {} is {}", endpoint, place, REASON);
        }
        return place + " is " + REASON;
    }
}
