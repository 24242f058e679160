package dev.gateway.net.transport;

import io.netty.channel.unix.Errors.NativeIoException;
import io.netty.util.NetUtil;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Local resource exhaustion. Tells which failures to connect are this machine's own: it has no file descriptor, port or
 * buffer left. They say nothing about the peer.
 */
public final class Shortage {
    private static final Set<Integer> ALWAYS_OURS = Set.of(
            -12, // ENOMEM
            -23, // ENFILE
            -24, // EMFILE
            -28, // ENOSPC: epoll may watch no more
            -105); // ENOBUFS

    private static final int NO_ADDRESS = -99; // EADDRNOTAVAIL: most often there is no free port

    private static final Set<String> WORDS =
            Set.of("Too many open files", "No buffer space available", "Cannot allocate memory");
    private static final String NO_ADDRESS_WORDS = "Cannot assign requested address";

    private static final boolean HAS_IPV6 = hasIpv6();

    private Shortage() {}

    /** Thrown where the gateway itself keeps the last descriptors for others. */
    static final class NoDescriptorException extends RuntimeException {
        private static final long serialVersionUID = 1;

        NoDescriptorException(String message) {
            super(message, null, false, false);
        }
    }

    /**
     * Whether a connection failed for want of something of our own.
     *
     * @param address that was dialed, null for a socket file
     */
    public static boolean isOurs(Throwable failure, @Nullable InetAddress address) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (isOne(each, address)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOne(Throwable failure, @Nullable InetAddress address) {
        if (failure instanceof NoDescriptorException) {
            return true;
        }
        boolean hasNoAddress;
        if (failure instanceof NativeIoException io) {
            if (ALWAYS_OURS.contains(io.expectedErr())) {
                return true;
            }
            hasNoAddress = io.expectedErr() == NO_ADDRESS;
        } else {
            String message = failure.getMessage();
            if (message == null) {
                return false;
            }
            if (WORDS.stream().anyMatch(message::contains)) {
                return true;
            }
            hasNoAddress = message.contains(NO_ADDRESS_WORDS);
        }
        // Without IPv6 the kernel says the same of each IPv6 address: that is a fault of the configuration.
        return hasNoAddress && (HAS_IPV6 || !(address instanceof Inet6Address));
    }

    private static boolean hasIpv6() {
        return NetUtil.NETWORK_INTERFACES.stream()
                .flatMap(NetworkInterface::inetAddresses)
                .anyMatch(Inet6Address.class::isInstance);
    }
}
