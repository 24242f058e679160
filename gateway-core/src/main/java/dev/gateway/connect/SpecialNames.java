package dev.gateway.connect;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells names that lead to this machine, to this network, or to what clouds tell their machines, without asking DNS. Names are
 * in lower case and without a dot at their end.
 */
final class SpecialNames {
    /** What files of hosts call loopback, besides localhost (RFC 6761, section 6.3): those of Debian and Red Hat. */
    private static final Set<String> LOOPBACK = Set.of("loopback", "ip6-localhost", "ip6-loopback");

    private static final List<String> LOOPBACK_DOMAINS =
            List.of("localhost", "localdomain", "localdomain4", "localdomain6");
    private static final Set<String> LOOPBACK_LABELS = Set.of("localhost", "localhost4", "localhost6");

    /** By which a container reaches the machine that it runs on. */
    private static final List<String> CONTAINER_DOMAINS = List.of("docker.internal", "containers.internal");

    private static final Set<String> METADATA_LABELS = Set.of("metadata", "instance-data");
    private static final Set<String> METADATA =
            Set.of("metadata.goog", "metadata.packet.net", "metadata.platformequinix.com");

    private SpecialNames() {}

    /** Whether it is usually a name of loopback. */
    static boolean isLoopback(String name) {
        return LOOPBACK.contains(name)
                || LOOPBACK_LABELS.contains(firstLabel(name))
                || LOOPBACK_DOMAINS.stream().anyMatch(domain -> isIn(name, domain));
    }

    /** Returns what kind of name it is if no public host has it, else null. */
    static @Nullable String kind(String name) {
        if (isLoopback(name)) {
            return "a name of loopback";
        } else if (METADATA.contains(name)
                || (name.endsWith(".internal") && METADATA_LABELS.contains(firstLabel(name)))) {
            return "a name of a cloud's metadata";
        } else if (CONTAINER_DOMAINS.stream().anyMatch(domain -> isIn(name, domain))) {
            return "a name of the machine that containers run on";
        }
        return name.indexOf('.') < 0 ? "a name without a dot" : null;
    }

    private static boolean isIn(String name, String domain) {
        return name.equals(domain) || name.endsWith("." + domain);
    }

    private static String firstLabel(String name) {
        int dot = name.indexOf('.');
        return dot < 0 ? name : name.substring(0, dot);
    }
}
