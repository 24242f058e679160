package dev.gateway.filter.ipaccess;

import dev.gateway.config.file.AddressFile;
import dev.gateway.config.listener.IpAccessConfig;
import dev.gateway.config.value.Position;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterFile;
import dev.gateway.filter.FilterStates;
import dev.gateway.format.Cidr;
import dev.gateway.format.CidrSet;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Access list: which client addresses are denied, or which ones alone are allowed. Each list of blocks costs one binary
 * search. An IPv4 block also holds the IPv4-mapped IPv6 addresses. Safe from any thread.
 */
public final class AccessList {
    private final List<Supplier<CidrSet>> deny;
    private final @Nullable List<Supplier<CidrSet>> allow;

    /** Key of the addresses of a file. */
    private record Addresses(Path file) {}

    /**
     * Makes the list of a filter, or of a listener, whose files are watched.
     *
     * @throws StartException if a file cannot be used
     */
    public static AccessList of(IpAccessConfig config, FilterStates.Prepared states) throws StartException {
        boolean isRestricted = !config.allow().isEmpty() || !config.allowFiles().isEmpty();
        return new AccessList(
                lists(config.position(), config.deny(), config.denyFiles(), states),
                isRestricted ? lists(config.position(), config.allow(), config.allowFiles(), states) : null);
    }

    private static List<Supplier<CidrSet>> lists(
            Position position, List<Cidr> blocks, List<Path> files, FilterStates.Prepared states)
            throws StartException {
        List<Supplier<CidrSet>> lists = new ArrayList<>();
        if (!blocks.isEmpty()) {
            CidrSet written = CidrSet.of(blocks);
            lists.add(() -> written);
        }
        FilterFile.Use use = new FilterFile.Use(position, IpAccessFeature.NAME, "addresses");
        for (Path file : files) {
            lists.add(FilterFile.of(new Addresses(file), file, AddressFile::read, use, states));
        }
        return lists;
    }

    /**
     * Makes the list.
     *
     * @param deny lists of those who are refused; asked each time, as files may change
     * @param allow lists of those who are not; null for all others
     */
    public AccessList(List<Supplier<CidrSet>> deny, @Nullable List<Supplier<CidrSet>> allow) {
        this.deny = List.copyOf(deny);
        this.allow = allow == null ? null : List.copyOf(allow);
    }

    /**
     * Returns why a client is refused, as what follows its address in a sentence; null if it is not.
     *
     * @param client null if its address is not known, as of a Unix-domain socket: such a client is in no list
     */
    public @Nullable String refusal(@Nullable InetAddress client) {
        if (isIn(deny, client)) {
            return "is denied";
        }
        return allow == null || isIn(allow, client) ? null : "is not among those allowed";
    }

    private static boolean isIn(List<Supplier<CidrSet>> lists, @Nullable InetAddress client) {
        if (client == null) {
            return false;
        }
        for (int i = 0; i < lists.size(); i++) {
            if (lists.get(i).get().contains(client)) {
                return true;
            }
        }
        return false;
    }
}
