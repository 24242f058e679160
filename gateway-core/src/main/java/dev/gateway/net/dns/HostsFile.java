package dev.gateway.net.dns;

import dev.gateway.files.FileWatch;
import io.netty.resolver.HostsFileEntriesProvider;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Hosts file of the machine: names with addresses, which come before DNS. Container engines write it, and may write it again.
 * Any thread may ask.
 */
public final class HostsFile {
    /** Where programs look for it. */
    public static final Path USUAL = Path.of("/etc/hosts");

    private final Path path;
    private final FileWatch watch;
    private volatile Entries entries;

    private record Entries(Map<String, List<InetAddress>> ipv4, Map<String, List<InetAddress>> ipv6) {}

    /** Reads a file; without one, no name is known. */
    public HostsFile(Path path) {
        this.path = path;
        this.watch = new FileWatch(List.of(path));
        this.entries = load();
    }

    /**
     * Reads it again if it has changed. Used by one thread, which it blocks for a moment.
     *
     * @return whether it has changed
     */
    boolean look() {
        boolean changed = watch.hasSettled();
        if (changed) {
            watch.reading();
            entries = load();
        }
        return changed;
    }

    private Entries load() {
        HostsFileEntriesProvider file =
                HostsFileEntriesProvider.parser().parseSilently(path.toFile(), StandardCharsets.UTF_8);
        return new Entries(file.ipv4Entries(), file.ipv6Entries());
    }

    /**
     * Returns the addresses of a name.
     *
     * @param name in lower case
     */
    List<InetAddress> addresses(String name, Family family) {
        Entries now = entries;
        return (family == Family.IPV6 ? now.ipv6 : now.ipv4).getOrDefault(name, List.of());
    }

    /** Whether it has a name. */
    boolean has(String name) {
        Entries now = entries;
        return now.ipv4.containsKey(name) || now.ipv6.containsKey(name);
    }
}
